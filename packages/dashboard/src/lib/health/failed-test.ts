import { type AttemptStatus, headline, type ResponseFacts, wasSent } from "../attempts/attempt-words.ts";
import { timeAgo } from "../text/time.ts";

/** The fields of an attempt that the words need. */
export interface TestedAttempt extends ResponseFacts {
	readonly test: boolean;
	readonly status: AttemptStatus;
	readonly attempt: number;
	readonly started_at: string;
}

/**
 * The newest attempt if it is a test's and failed; null if something else was sent since, which says more.
 *
 * @param attempts of a webhook, newest first
 */
export function failedTestOf<Attempt extends TestedAttempt>(attempts: readonly Attempt[]): Attempt | null {
	const newest = attempts.find(wasSent);
	return newest?.test && newest.status !== "delivered" ? newest : null;
}

/** `Its last test failed 2 min ago. The receiver returned 500 (Internal Server Error).` */
export const failedTestWords = (attempt: TestedAttempt, now: number): string =>
	`Its last test failed ${timeAgo(Date.parse(attempt.started_at), now)}. ${headline(attempt)}.`;
