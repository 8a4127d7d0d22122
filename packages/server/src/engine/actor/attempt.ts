import { BytePool } from "../../base/byte-pool.ts";
import type { Baggable } from "../../base/collections.ts";
import { withTime } from "../../base/ids.ts";
import type { Claim, NewAttempt, Retry } from "../../storage/port.ts";
import type { Lane } from "../lanes/lane.ts";
import type { LaneEvent } from "../lanes/packed-events.ts";
import {
	type Cancelled,
	type ClosingReason,
	type Deferred,
	explain,
	type Outcome,
	type Shipment,
} from "../send/outcome.ts";
import type { Slot } from "../send/slot.ts";
import { afterAttempt, resultOf } from "../settle/lifecycle.ts";
import type { Change } from "../settle/settler.ts";
import type { ActorContext, Message, ProjectWork } from "./context.ts";

export const NO_BYTES = new Uint8Array(0);

/** Copies, because the event's own memory is freed once all lanes have passed it. */
const BODIES = new BytePool();

/** The longest that the log can hold. An attempt seems to take longer if the machine slept for a month. */
const LONGEST_RESPONSE_MS = 2 ** 31 - 1;

/** An attempt, from when its lane starts it until its outcome is committed. */
export class InFlight implements Shipment, Baggable {
	readonly lane: Lane;
	readonly seq: number;
	readonly eventId: string;
	readonly eventType: string;
	readonly #publishedAt: number;
	/** Dropped once the attempt has ended. */
	body: Uint8Array;
	/** The id of its entry in the delivery log, made when it begins. */
	attemptId = "";
	/** The queued attempt that this is, or null for a first attempt. */
	readonly retry: Retry | null;
	/** Null when nothing is sent. */
	readonly slot: Slot | null;
	/** Monotonic time in milliseconds at which the request was last written. From then on the receiver may have it. */
	writtenAt: number | null = null;
	bagIndex = -1;
	readonly #work: InFlightWork;

	constructor(work: InFlightWork, lane: Lane, event: LaneEvent, retry: Retry | null, slot: Slot | null) {
		this.#work = work;
		this.lane = lane;
		this.seq = event.seq;
		this.eventId = event.id;
		this.eventType = event.type;
		this.#publishedAt = event.publishedAt;
		this.body = BODIES.copy(event.body);
		this.retry = retry;
		this.slot = slot;
	}

	get attempt(): number {
		return this.retry?.attempt ?? 1;
	}

	get replay(): number {
		return this.retry?.replay ?? 0;
	}

	get target(): Lane["target"] {
		return this.lane.target;
	}

	/** The time from the event's publishing to the start of its first attempt, milliseconds; null for any other attempt. */
	lagMs(startedAt: number): number | null {
		// The clock of the node that published it may be ahead.
		return this.retry === null ? Math.max(0, startedAt - this.#publishedAt) : null;
	}

	/** Since it was started, the owner may have unsubscribed from the type, or resumed from now. */
	mayLeave(): boolean {
		return this.#work.mayLeave() && this.lane.wants(this.seq, this.eventType, this.retry);
	}

	onBegun(at: number): void {
		this.attemptId = this.#work.context.ids.next("attempt", at);
	}

	onWritten(): void {
		this.writtenAt = this.#work.context.clock.elapsed();
	}

	ended(): void {
		this.body = NO_BYTES;
		this.slot?.release();
	}
}

type InFlightWork = Pick<ProjectWork, "mayLeave"> & { readonly context: Pick<ActorContext, "clock" | "ids"> };

/** What an outcome changes: the entry in the delivery log, and the next attempt if there is one. */
export interface Consequence extends Omit<Change, "lane"> {
	readonly attempt: NewAttempt;
	/** As {@link InFlight.lagMs}; also null if nothing was sent. */
	readonly lagMs: number | null;
}

/** Applies the lifecycle table to an outcome. */
export function consequenceOf(inFlight: InFlight, outcome: Outcome, delaysMs: readonly number[]): Consequence {
	const { lane, seq, eventType, attempt, replay, retry } = inFlight;
	const { webhookId } = lane;
	const next = afterAttempt(attempt, resultOf(outcome), delaysMs);
	const dueAt = next.delayMs === null ? null : outcome.endedAt + next.delayMs;
	const reason = explain(outcome);
	/** Null if the delivery was closed. */
	const tried = outcome.kind === "not_sent" ? null : outcome;
	const answered = outcome.kind === "answered" ? outcome : null;
	const waitedMs = tried?.waitedMs ?? 0;
	const startedAt = outcome.startedAt + waitedMs;
	const sent = tried?.request ?? null;
	return {
		attempt: {
			id: waitedMs === 0 ? inFlight.attemptId : withTime(inFlight.attemptId, startedAt),
			webhookId,
			seq,
			eventType,
			attempt,
			replay,
			status: next.status,
			statusCode: answered?.status ?? null,
			errorCode: reason?.code ?? null,
			error: reason?.text ?? null,
			startedAt,
			responseMs: Math.min(outcome.endedAt - outcome.startedAt - waitedMs, LONGEST_RESPONSE_MS),
			responseBody: answered?.body ?? NO_BYTES,
			responseTruncated: answered?.truncated ?? false,
			...(tried?.details && { details: tried.details }),
			nextRetryAt: dueAt,
			url: outcome.kind === "unanswered" ? outcome.url : (sent?.url ?? lane.target.url),
			sent,
		},
		schedule: dueAt === null ? null : { webhookId, seq, queue: "retry", replay, attempt: attempt + 1, dueAt },
		unschedule: retry && dueAt === null ? { webhookId, seq } : null,
		lagMs: tried && inFlight.lagMs(startedAt),
	};
}

/** Takes attempts from their start to the commit of their outcome, and closes deliveries without an attempt. */
export class Attempts {
	readonly #work: ProjectWork;
	/** The last attempt whose commit was confirmed. */
	lastCommitted: Claim["attempt"] = null;

	constructor(work: ProjectWork) {
		this.#work = work;
	}

	/** Sends an event to its webhook. @param retry null for a first attempt */
	send(lane: Lane, event: LaneEvent, retry: Retry | null, slot: Slot): void {
		const inFlight = this.#begin(lane, event, retry, slot);
		const { context, post } = this.#work;
		context.sender.send(inFlight).then(
			(outcome) => post({ kind: "ended", inFlight, outcome }),
			(error) => {
				slot.release();
				post({ kind: "fault", error });
			},
		);
	}

	/** Ends a delivery without sending a request. */
	close(lane: Lane, event: LaneEvent, retry: Retry | null, slot: Slot | null, reason: ClosingReason): void {
		const inFlight = this.#begin(lane, event, retry, slot);
		const { context, post } = this.#work;
		const now = context.clock.now();
		inFlight.onBegun(now);
		post({ kind: "ended", inFlight, outcome: { kind: "not_sent", reason, startedAt: now, endedAt: now } });
	}

	/** An attempt has ended, or wasn't made after all. @returns false if it isn't in flight: nothing was done */
	ended(inFlight: InFlight, outcome: Outcome | Cancelled | Deferred): boolean {
		if (!this.#work.inFlight.delete(inFlight)) return false;
		inFlight.ended();
		if (outcome.kind === "cancelled" || outcome.kind === "deferred") this.putBack(inFlight);
		else this.#settle(inFlight, outcome);
		return true;
	}

	#settle(inFlight: InFlight, outcome: Outcome): void {
		const { lane, retry } = inFlight;
		const { context, lease, post } = this.#work;
		// A deleted webhook gets no next attempt.
		const consequence = consequenceOf(inFlight, outcome, lane.gone || lane.deleted ? [] : context.retryDelaysMs);
		if (retry) lane.queuedEnded(retry);
		else lane.firstEnded(inFlight.seq);
		const { progress } = lane;
		context.unsettled.begin();
		context.settler.add({
			lease,
			attempt: consequence.attempt,
			schedule: consequence.schedule,
			unschedule: consequence.unschedule,
			lane: retry ? null : progress,
			done: (result) => {
				context.unsettled.end(result);
				post({ kind: "committed", inFlight, consequence, position: progress.position, result });
			},
		});
	}

	/** Puts the attempt back into its queue, as if it had never begun. */
	putBack({ lane, retry, seq }: InFlight): void {
		this.#work.open.end();
		if (retry) {
			lane.queuedEnded(retry);
			lane.queuedCommitted(retry);
			lane.queue(retry.queue).add(retry);
		} else {
			lane.putBack(seq);
		}
	}

	/** The attempt's outcome is committed. Only now is the next attempt queued. */
	committed({ inFlight, consequence, position }: Extract<Message, { kind: "committed" }>): void {
		const { lane, retry, eventId } = inFlight;
		if (retry) {
			lane.queuedCommitted(retry);
			lane.queue(retry.queue).forget(retry);
		} else {
			lane.stored(position);
		}
		const { attempt, schedule, lagMs } = consequence;
		const { id, webhookId, seq, replay } = attempt;
		// Not all of it: a project may keep it for days.
		this.lastCommitted = { id, webhookId, seq, replay, attempt: attempt.attempt };
		// A read that finished before the commit returned may already have started it.
		if (schedule && !lane.isInFlight(schedule)) lane.queue("retry").add(schedule);
		this.#work.context.observer.attempted?.(this.#work.projectId, eventId, attempt, lagMs);
	}

	/** Stores the progress of a lane that only skipped or dropped events, if storage doesn't know it. */
	storeProgress(lane: Lane): void {
		const progress = lane.takeProgress();
		if (progress === null) return;
		const { context, lease, open, post } = this.#work;
		open.begin();
		context.settler.add({
			lease,
			attempt: null,
			schedule: null,
			unschedule: null,
			lane: progress,
			done: (result) => post({ kind: "position_committed", result }),
		});
	}

	/** A deleted webhook has nothing pending now. If storing that fails, the next load of the lanes does it. */
	endDeletion({ webhookId }: Lane): void {
		const { context, open, post, projectId } = this.#work;
		open.begin();
		context.storage
			.endDeletion({ projectId, webhookId })
			.catch((error) => context.logger.warn({ err: error, webhookId }, "failed to finish a webhook's deletion"))
			.then(() => post({ kind: "deletion_ended" }));
	}

	#begin(lane: Lane, event: LaneEvent, retry: Retry | null, slot: Slot | null): InFlight {
		const inFlight = new InFlight(this.#work, lane, event, retry, slot);
		this.#work.inFlight.add(inFlight);
		this.#work.open.begin();
		return inFlight;
	}
}
