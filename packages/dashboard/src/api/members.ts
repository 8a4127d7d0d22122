import { queryOptions } from "@tanstack/react-query";
import type { Role } from "../lib/account/roles.ts";
import { api } from "./client/client.ts";
import { projectKey } from "./client/keys.ts";
import type { Schemas } from "./client/operation.ts";
import { allRows, pagedQuery } from "./client/pages.ts";
import { queryClient, WATCHED } from "./client/query-client.ts";

export type Member = Schemas["Member"];

const MEMBERS = "/v1/projects/{project_id}/members";

export const membersQuery = (projectId: string) =>
	queryOptions({
		queryKey: projectKey(projectId, "members"),
		queryFn: ({ signal }) => allRows(MEMBERS, projectId, signal),
		...WATCHED,
	});

/** The invitations that an owner created end when they aren't one any longer, and an invitation ends when someone joins. */
export const refreshMembers = (projectId: string) =>
	Promise.all(
		(["members", "invitations"] as const).map((list) =>
			queryClient.invalidateQueries({ queryKey: projectKey(projectId, list) }),
		),
	);

export async function changeRole(projectId: string, accountId: string, role: Role): Promise<void> {
	await api.patch(`${MEMBERS}/{account_id}`, {
		path: { project_id: projectId, account_id: accountId },
		body: { role },
	});
	await refreshMembers(projectId);
}

export async function removeMember(projectId: string, accountId: string): Promise<void> {
	await api.delete(`${MEMBERS}/{account_id}`, { path: { project_id: projectId, account_id: accountId } });
	await refreshMembers(projectId);
}

const AUDIT_ROWS = 50;

/** What the audit log is limited to: what was done to a target, and what an actor did. */
interface AuditFilter {
	readonly target_id?: string;
	readonly actor_id?: string;
}

/** The project's audit log, newest first. */
export const auditQuery = (projectId: string, filter: AuditFilter) =>
	pagedQuery(projectKey(projectId, "audit", filter), "/v1/projects/{project_id}/audit", () => ({
		path: { project_id: projectId },
		query: { limit: AUDIT_ROWS, ...filter },
	}));
