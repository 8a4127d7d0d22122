import { queryOptions } from "@tanstack/react-query";
import { api } from "./client/client.ts";
import { ifStatus } from "./client/error.ts";
import type { Schemas } from "./client/operation.ts";
import { queryClient } from "./client/query-client.ts";
import { refreshSession, signOutBy } from "./session-cache.ts";

export type AccountSession = Schemas["SessionInfo"];

const SESSIONS = "/v1/account/sessions";

export const accountSessionsQuery = queryOptions({
	queryKey: ["account", "sessions"],
	queryFn: ({ signal }) => api.get(SESSIONS, { signal }),
});

const refreshSessions = () => queryClient.invalidateQueries({ queryKey: accountSessionsQuery.queryKey });

export async function renameAccount(name: string): Promise<void> {
	await api.patch("/v1/account", { body: { name } });
	await refreshSession();
}

/** Sets a new password and ends every other session. Changing it again needs it, even after signing in by link. */
export async function changePassword(body: { current?: string; password: string }): Promise<void> {
	await api.post("/v1/account/password", { body });
	await Promise.all([refreshSessions(), refreshSession()]);
}

/** Ends a session. False if it had already ended. */
export async function endSession(sessionId: string): Promise<boolean> {
	const path = { session_id: sessionId };
	const wasOpen = await api.delete(`${SESSIONS}/{session_id}`, { path }).then(() => true, ifStatus(404, false));
	await refreshSessions();
	return wasOpen;
}

/** Ends every session, including this one. */
export const endAllSessions = () => signOutBy(() => api.delete(SESSIONS));
