/**
 * The lifecycle of a delivery, as one table. Pure: no clock, no storage, no network. `docs/concepts/lifecycle.md` draws
 * the same table, and a test compares the two.
 *
 * A delivery is one event on its way to one webhook. It starts as `attempting`, and the result of each attempt moves it on.
 * A replay starts a new series at attempt 1, with the full number of attempts.
 */
import type { AttemptStatus, DeliveryState } from "../../storage/port.ts";
import type { Outcome } from "../send/outcome.ts";

/** What an attempt's outcome means for its delivery. */
export type Result =
	/** The receiver responded with 2xx. */
	| "success"
	/** Any other response, or none in time. */
	| "failure"
	/** Nothing was sent, and nothing will be: the event has expired, or the delivery is no longer wanted. */
	| "closed";

export interface Transition {
	readonly from: DeliveryState;
	readonly on: Result | "replay";
	/** Whether the series has attempts left after this one; absent if irrelevant. */
	readonly attemptsLeft?: boolean;
	readonly to: DeliveryState;
	/** The attempt's status in the delivery log; absent for a replay, which isn't an attempt yet. */
	readonly logged?: AttemptStatus;
}

export const LIFECYCLE: readonly Transition[] = [
	{ from: "attempting", on: "success", to: "delivered", logged: "delivered" },
	{ from: "attempting", on: "failure", attemptsLeft: true, to: "attempting", logged: "retrying" },
	{ from: "attempting", on: "failure", attemptsLeft: false, to: "dead_lettered", logged: "failed" },
	{ from: "attempting", on: "closed", to: "dead_lettered", logged: "failed" },
	{ from: "delivered", on: "replay", to: "attempting" },
	{ from: "dead_lettered", on: "replay", to: "attempting" },
];

export interface Next {
	readonly status: AttemptStatus;
	/** Time from the attempt's end until the next one is due, milliseconds; null if there is none. */
	readonly delayMs: number | null;
}

/** A 2xx status line is a success; any other result of an attempt is a failure. */
export function resultOf(outcome: Outcome): Result {
	switch (outcome.kind) {
		case "answered":
			return outcome.status >= 200 && outcome.status < 300 ? "success" : "failure";
		case "unanswered":
			return "failure";
		case "not_sent":
			return "closed";
	}
}

/** What follows attempt number `attempt`, from 1. @param delaysMs the delays before the series' attempts 2, 3 … */
export function afterAttempt(attempt: number, result: Result, delaysMs: readonly number[]): Next {
	const delay = delaysMs[attempt - 1];
	const row = LIFECYCLE.find(
		(t) =>
			t.from === "attempting" &&
			t.on === result &&
			(t.attemptsLeft === undefined || t.attemptsLeft === (delay !== undefined)),
	);
	if (row?.logged === undefined) throw new Error(`The lifecycle has no row for an attempt that ended in ${result}.`);
	return { status: row.logged, delayMs: row.logged === "retrying" ? delay! : null };
}
