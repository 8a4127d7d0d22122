import type { Api, Attempt } from "./api.ts";

/** Reads the delivery log as it grows. */
export interface Follower {
	/** The attempts that were logged since the last poll, in the order in which they ended. */
	poll(): Promise<Attempt[]>;
}

/** An attempt is logged when it has ended, and the log is searched by when it began. */
const COMMIT_ALLOWANCE_MS = 5_000;

/** Follows a project's delivery log. `attemptTimeout` in seconds: the longest that an attempt can take. */
export function followAttempts(api: Api, projectId: string, attemptTimeout: number): Follower {
	const lookBackMs = attemptTimeout * 1000 + COMMIT_ALLOWANCE_MS;
	let since = Date.now() - lookBackMs;
	/** When each attempt that was answered ended, by its id; only those that the next poll can meet again. */
	const seen = new Map<string, number>();

	return {
		async poll() {
			const nextSince = Date.now() - lookBackMs;
			const attempts = await api.attemptsSince(projectId, new Date(since));
			const fresh = attempts.filter(({ id }) => !seen.has(id)).toSorted((a, b) => endOf(a) - endOf(b));
			for (const attempt of fresh) seen.set(attempt.id, endOf(attempt));
			since = nextSince;
			for (const [id, end] of seen) if (end < since) seen.delete(id);
			return fresh;
		},
	};
}

function endOf(attempt: Attempt): number {
	return Date.parse(attempt.started_at) + attempt.response_ms;
}
