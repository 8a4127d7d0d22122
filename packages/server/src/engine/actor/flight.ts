import type { Baggable } from "../../base/bag.ts";
import type { LogEvent, NewAttempt, Retry } from "../../storage/port.ts";
import type { Lane } from "../lanes/lane.ts";
import { explain, type Outcome } from "../send/outcome.ts";
import type { Slot } from "../send/slots.ts";
import { afterAttempt, verdictOf } from "../settle/lifecycle.ts";

export const NO_BYTES = new Uint8Array(0);

/** An attempt, from when its lane starts it until its outcome is committed. */
export interface Flight extends Baggable {
	readonly lane: Lane;
	/** Its body is dropped once the attempt has ended. */
	event: LogEvent;
	/** The id of its entry in the delivery log; encodes the attempt's start time. */
	readonly attemptId: string;
	readonly attempt: number;
	readonly replay: number;
	/** The queued attempt that this is, or null for a first attempt. */
	readonly retry: Retry | null;
	/** Null when nothing is sent. */
	readonly slot: Slot | null;
	/** Monotonic time in milliseconds at which the request was last written. From then on the receiver may have it. */
	writtenAt: number | null;
}

/** What an outcome changes: the entry in the delivery log, and the next attempt if there is one. */
export interface Consequence {
	readonly attempt: NewAttempt;
	readonly schedule: Retry | null;
}

/** Applies the lifecycle table to an outcome. */
export function consequenceOf(flight: Flight, outcome: Outcome, delaysMs: readonly number[]): Consequence {
	const { lane, event, attempt, replay } = flight;
	const next = afterAttempt(attempt, verdictOf(outcome), delaysMs);
	const dueAt = next.delayMs === null ? null : outcome.endedAt + next.delayMs;
	const reason = explain(outcome);
	const waitedMs = outcome.kind === "not_sent" ? 0 : outcome.waitedMs;
	const sent = outcome.kind === "not_sent" ? null : outcome.request;
	return {
		attempt: {
			id: flight.attemptId,
			webhookId: lane.webhookId,
			seq: event.seq,
			eventType: event.type,
			attempt,
			replay,
			status: next.status,
			statusCode: outcome.kind === "answered" ? outcome.status : null,
			errorCode: reason?.code ?? null,
			error: reason?.text ?? null,
			startedAt: outcome.startedAt + waitedMs,
			responseMs: outcome.endedAt - outcome.startedAt - waitedMs,
			responseBody: outcome.kind === "answered" ? outcome.body : NO_BYTES,
			responseTruncated: outcome.kind === "answered" && outcome.truncated,
			nextRetryAt: dueAt,
			url: outcome.kind === "unanswered" ? outcome.url : (sent?.url ?? lane.target.url),
			sent,
		},
		schedule:
			dueAt === null
				? null
				: { webhookId: lane.webhookId, seq: event.seq, queue: "retry", replay, attempt: attempt + 1, dueAt },
	};
}
