import type { Api, Attempt } from "./api.ts";

/** Reads the delivery log as it grows. */
export interface Follower {
	/** The attempts logged since the last poll, in the order in which they ended. */
	poll(): Promise<Attempt[]>;
}

/** Attempts are logged when they end, but the log is searched by start time: search this far back in addition. */
const COMMIT_ALLOWANCE_MS = 5_000;

/** Follows a project's delivery log. `attemptTimeout`: the longest an attempt can take, in seconds. */
export function followAttempts(api: Api, projectId: string, attemptTimeout: number): Follower {
	const lookBackMs = attemptTimeout * 1000 + COMMIT_ALLOWANCE_MS;
	let since = Date.now() - lookBackMs;
	/** End times of attempts already returned, by id; only those that the next poll may find again. */
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
