import { forgetDrafts } from "../lib/account/kept-drafts.ts";
import { releaseSecret } from "../lib/account/kept-secret.ts";
import { queryClient } from "./client/query-client.ts";
import type { Session } from "./model.ts";

export const SESSION_KEY = ["session"] as const;

/** Fields that sessions of the previous release lack, with the defaults of their settings. */
const ADDED = {
	log_retention_days: 30,
	max_description_length: 200,
	quarantine: false,
} as const satisfies Partial<Session>;

/** The token of the session that the user is ending or has ended; null once another one has begun, in any tab. */
let endedToken: string | null = null;

/** Whether the user is signing out or has signed out, so the sign-in page doesn't say that the session has ended. */
export const isSigningOut = () => endedToken !== null;

/** The session as last known; null when signed out or not known yet. */
export const cachedSession = () => queryClient.getQueryData<Session | null>(SESSION_KEY) ?? null;

/**
 * Takes a session from the service: with a new one, the user is no longer signing out. Adds the fields that it lacks if a
 * node of the previous release responds during an upgrade.
 */
export function received(session: Session): Session {
	if (session.csrf_token !== endedToken) endedToken = null;
	// In another tab, someone else may have signed in.
	const before = cachedSession();
	if (before !== null && before.account.id !== session.account.id) forgetSeen();
	forgetDrafts(session.account.id);
	return { ...ADDED, ...session };
}

/** Whether the session has ended without the user signing out. */
export const hasSessionEnded = () => !isSigningOut() && queryClient.getQueryData<Session | null>(SESSION_KEY) === null;

/** The token for unsafe calls; null when signed out. */
export const csrfToken = () => cachedSession()?.csrf_token ?? null;

/** Data that needs a session, by the first part of its query keys. */
const SEEN = new Set<unknown>(["project", "projects", "account"]);

function forgetSeen(): void {
	queryClient.removeQueries({ predicate: ({ queryKey }) => SEEN.has(queryKey[0]) });
	releaseSecret();
}

/** Clears what is known of a project that the session may no longer see. */
export const forgetProject = (projectId: string) =>
	queryClient.removeQueries({ predicate: ({ queryKey: [scope, id] }) => scope === "project" && id === projectId });

/** Stores a new session and clears the cache, which may hold another account's data. */
export function rememberSession(session: Session): void {
	if (cachedSession()?.account.id !== session.account.id) forgetSeen();
	queryClient.setQueryData<Session | null>(SESSION_KEY, received(session));
}

/** Refetches the session after projects, apps or roles changed. */
export const refreshSession = () => queryClient.invalidateQueries({ queryKey: SESSION_KEY });

/** Clears the cache after the session has ended. */
export function forgetSession(): void {
	forgetSeen();
	queryClient.setQueryData<Session | null>(SESSION_KEY, null);
}

/**
 * Signs out with this call, then clears the cache. Before it resolves, other requests may already learn that the session
 * has ended.
 */
export async function signOutBy(end: () => Promise<unknown>): Promise<void> {
	endedToken = csrfToken();
	try {
		await end();
	} catch (error) {
		endedToken = null;
		throw error;
	}
	forgetDrafts();
	forgetSession();
}
