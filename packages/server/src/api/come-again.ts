/**
 * How the service says "not now", in one place: 429 if a budget of the caller is used up, 503 if one of the whole node is,
 * or if something it needs is unavailable. Both say when to try again, in `Retry-After` and in the sentence.
 */
import type { Busy } from "../engine/engine.ts";
import { Problem } from "./problem.ts";

/** Whose budget is used up: the caller's own, or the node's. */
export type Whose = "own" | "node";

/** When to try again, seconds: requests and commits take moments; locks and outages of storage take longer. */
const SOON_S = 1;
export const LATER_S = 5;

/** @param why sentences, each with its full stop */
export function comeAgain(whose: Whose, why: string, seconds = SOON_S): Problem {
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
			LATER_S,
		);
	return comeAgain(
		refused.whose,
		refused.whose === "own"
			? "This project sends more than can be written. Nothing was written."
			: "The node's queue to the log is full. Nothing was written.",
	);
}

/** The same, for the rows of routes whose events or facts go to the log. */
export const LOG_PROBLEMS = {
	"too-many-requests": "This project sends more than can be written. Nothing was written.",
	unavailable: "The node's queue to the log is full, the project's log is locked, or storage is away.",
} as const;
