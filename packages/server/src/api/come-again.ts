/**
 * How the service says "not now", in one place: 429 if a budget of the caller is used up, 503 if one of the whole node is,
 * or if something it needs is unavailable. Both say when to try again, in `Retry-After` and in the sentence.
 */
import type { Busy } from "../engine/engine.ts";
import { Problem } from "./problem.ts";

/** Whose budget is used up: the caller's own, or the node's. */
export type Whose = "own" | "node";

/** When to try again, seconds. */
export const RETRY_S = {
	/** Requests and commits take moments. */
	soon: 1,
	/** Checking passwords takes longer. */
	passwords: 2,
	/** So do locks and outages of storage, and calls that wait for events. */
	later: 5,
	/** Streams stay open until their page is closed. */
	streams: 30,
} as const;

const OVER_ITS_SHARE = "This project sends more than can be written. Nothing was written.";

/** @param why sentences, each with its full stop */
export function comeAgain(whose: Whose, why: string, seconds: number = RETRY_S.soon): Problem {
	const kind = whose === "own" ? "too-many-requests" : "unavailable";
	return new Problem(kind, `${why} Try again in ${seconds} ${seconds === 1 ? "second" : "seconds"}.`, {
		headers: { "Retry-After": String(seconds) },
	});
}

/** Events, or facts with theirs, that the log does not take now. */
export function notWritten(refused: Busy | { readonly kind: "locked" }): Problem {
	if (refused.kind === "locked")
		return comeAgain(
			"node",
			"A long transaction in the store's database holds this project's log. Nothing was written.",
			RETRY_S.later,
		);
	return comeAgain(
		refused.whose,
		refused.whose === "own" ? OVER_ITS_SHARE : "The node's queue to the log is full. Nothing was written.",
	);
}

/** The same, for the rows of routes whose events or facts go to the log. */
export const LOG_PROBLEMS = {
	"too-many-requests": OVER_ITS_SHARE,
	unavailable: "The node's queue to the log is full, the project's log is locked, or storage is away.",
} as const;
