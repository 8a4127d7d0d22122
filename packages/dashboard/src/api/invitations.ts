import { queryOptions } from "@tanstack/react-query";
import type { Role } from "../lib/account/roles.ts";
import { api } from "./client/client.ts";
import { ifStatus } from "./client/error.ts";
import { projectKey } from "./client/keys.ts";
import type { Schemas } from "./client/operation.ts";
import { queryClient, WATCHED } from "./client/query-client.ts";
import { refreshMembers } from "./members.ts";
import { rememberSession } from "./session-cache.ts";

export type Invitation = Schemas["Invitation"];
/** The only response that contains the link. */
export type CreatedInvitation = Schemas["CreatedInvitation"];

const INVITATIONS = "/v1/projects/{project_id}/invitations";

export const invitationsQuery = (projectId: string) =>
	queryOptions({
		queryKey: projectKey(projectId, "invitations"),
		queryFn: ({ signal }) => api.get(INVITATIONS, { path: { project_id: projectId }, signal }),
		...WATCHED,
	});

const refresh = (projectId: string) =>
	queryClient.invalidateQueries({ queryKey: projectKey(projectId, "invitations") });

/** Doesn't wait for the list: only this response has the link. */
export async function invite(projectId: string, body: { role: Role; email?: string }): Promise<CreatedInvitation> {
	const created = await api.post(INVITATIONS, { path: { project_id: projectId }, body });
	void refresh(projectId);
	return created;
}

/** Returns whether it was still open: neither used nor revoked. */
export async function revokeInvitation(projectId: string, invitationId: string): Promise<boolean> {
	const path = { project_id: projectId, invitation_id: invitationId };
	const wasOpen = await api.delete(`${INVITATIONS}/{invitation_id}`, { path }).then(() => true, ifStatus(404, false));
	await refreshMembers(projectId);
	return wasOpen;
}

export const invitationLookQuery = (token: string) =>
	queryOptions({
		queryKey: ["invitation", token],
		queryFn: ({ signal }) => api.post("/v1/invitations/look", { body: { token }, signal }),
		staleTime: Number.POSITIVE_INFINITY,
	});

/** Joins the project: with the session, or with a newly created account. */
export const acceptInvitation = async (token: string, newAccount?: { email: string; name: string; password: string }) =>
	rememberSession(await api.post("/v1/invitations/accept", { body: { token, ...newAccount } }));
