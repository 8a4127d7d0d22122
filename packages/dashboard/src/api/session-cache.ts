import type { Session } from "./model.ts";
import { queryClient } from "./query-client.ts";

export const SESSION_KEY = ["session"] as const;

const cached = () => queryClient.getQueryData<Session | null>(SESSION_KEY) ?? null;

/** The token that unsafe calls carry, or null when nobody is signed in. */
export const csrfToken = () => cached()?.csrf_token ?? null;

/** What only a session sees, by the first part of its query keys. */
const SEEN = new Set<unknown>(["project", "projects", "account"]);

const forgetSeen = () => queryClient.removeQueries({ predicate: ({ queryKey }) => SEEN.has(queryKey[0]) });

/** Takes a session that has begun. What was seen before it is forgotten: it may have been somebody else's. */
export function rememberSession(session: Session): void {
	if (cached()?.account.id !== session.account.id) forgetSeen();
	queryClient.setQueryData<Session | null>(SESSION_KEY, session);
}

/** The session is over: everything that it saw is forgotten. */
export function forgetSession(): void {
	forgetSeen();
	queryClient.setQueryData<Session | null>(SESSION_KEY, null);
}
