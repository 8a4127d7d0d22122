import { queryOptions } from "@tanstack/react-query";
import { api } from "./client.ts";
import type { Page } from "./model.ts";
import { queryClient } from "./query-client.ts";
import { refreshSession } from "./session.ts";

export interface AccountSession {
	readonly id: string;
	readonly created_at: string;
	readonly last_seen_at: string;
	readonly user_agent: string | null;
	readonly address: string | null;
	/** Whether it is the session that asks. */
	readonly current: boolean;
}

const SESSIONS = "/v1/account/sessions";

export const accountSessionsQuery = queryOptions({
	queryKey: ["account", "sessions"],
	queryFn: ({ signal }) => api.get<Page<AccountSession>>(SESSIONS, { signal }),
});

const refreshSessions = () => queryClient.invalidateQueries({ queryKey: accountSessionsQuery.queryKey });

export async function renameAccount(name: string): Promise<void> {
	await api.patch("/v1/account", { body: { name } });
	await refreshSession();
}

/** Sets a new password, which ends every other session. */
export async function changePassword(body: { current?: string; password: string }): Promise<void> {
	await api.post("/v1/account/password", { body });
	await refreshSessions();
}

export async function endSession(sessionId: string): Promise<void> {
	await api.delete(`${SESSIONS}/{session_id}`, { path: { session_id: sessionId } });
	await refreshSessions();
}

/** Ends every session, this one too. */
export const endAllSessions = () => api.delete(SESSIONS);
