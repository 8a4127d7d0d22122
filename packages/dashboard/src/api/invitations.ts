import { queryOptions } from "@tanstack/react-query";
import type { Role } from "../lib/roles.ts";
import { api } from "./client.ts";
import { projectKey } from "./keys.ts";
import type { Page, Session } from "./model.ts";
import { queryClient } from "./query-client.ts";
import { rememberSession } from "./session-cache.ts";

export interface Invitation {
	readonly id: string;
	readonly role: Role;
	readonly email: string | null;
	readonly created_at: string;
	readonly expires_at: string;
	readonly invited_by: { readonly kind: string; readonly id: string | null; readonly name: string | null } | null;
}

/** The only answer with the link. */
export interface CreatedInvitation extends Invitation {
	readonly url: string;
}

/** What an invitation says to the person who holds its link. */
export interface InvitationLook {
	readonly project: { readonly id: string; readonly name: string };
	readonly role: Role;
	readonly email: string | null;
	readonly expires_at: string;
	readonly invited_by_name: string | null;
}

const INVITATIONS = "/v1/projects/{project_id}/invitations";

export const invitationsQuery = (projectId: string) =>
	queryOptions({
		queryKey: projectKey(projectId, "invitations"),
		queryFn: ({ signal }) => api.get<Page<Invitation>>(INVITATIONS, { path: { project_id: projectId }, signal }),
	});

const refresh = (projectId: string) =>
	queryClient.invalidateQueries({ queryKey: projectKey(projectId, "invitations") });

export async function invite(projectId: string, body: { role: Role; email?: string }): Promise<CreatedInvitation> {
	const created = await api.post<CreatedInvitation>(INVITATIONS, { path: { project_id: projectId }, body });
	await refresh(projectId);
	return created;
}

export async function revokeInvitation(projectId: string, invitationId: string): Promise<void> {
	await api.delete(`${INVITATIONS}/{invitation_id}`, {
		path: { project_id: projectId, invitation_id: invitationId },
	});
	await refresh(projectId);
}

export const invitationLookQuery = (token: string) =>
	queryOptions({
		queryKey: ["invitation", token],
		queryFn: ({ signal }) => api.post<InvitationLook>("/v1/invitations/look", { body: { token }, signal }),
		staleTime: Number.POSITIVE_INFINITY,
	});

/** Joins the project: with the session, or with an account made for it. */
export async function acceptInvitation(
	token: string,
	newAccount?: { email: string; name: string; password: string },
): Promise<Session> {
	const session = await api.post<Session>("/v1/invitations/accept", { body: { token, ...newAccount } });
	rememberSession(session);
	return session;
}
