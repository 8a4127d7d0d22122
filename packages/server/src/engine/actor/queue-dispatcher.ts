import { SENDS } from "../../base/budgets.ts";
import { cancelledMark, type LogEvent, type QueueName, type Retry } from "../../storage/port.ts";
import { type Lane, QUEUE_NAMES } from "../lanes/lane.ts";
import type { ClosingReason } from "../send/outcome.ts";
import type { Slot } from "../send/slot.ts";
import type { Attempts } from "./attempt.ts";
import type { Backpressure, StartResult } from "./backpressure.ts";
import type { ProjectWork } from "./context.ts";

const AT_ANY_TIME = Number.MAX_SAFE_INTEGER;
/**
 * How much further ahead than the longest delay a retry may be due, milliseconds: it may have been scheduled when the
 * delays were longer, or by another node, and clocks may differ by hours.
 */
const MARGIN_MS = 86_400_000;

/** A queued attempt that was taken from its queue and needs its event. */
interface Wanted {
	readonly lane: Lane;
	readonly retry: Retry;
	readonly slot: Slot;
}

/**
 * Starts the queued attempts of lanes: due retries, replays, and user requests. Each takes a slot first; then the
 * events of all attempts taken in the same turn are read together.
 */
export class QueueDispatcher {
	readonly #work: ProjectWork;
	readonly #backpressure: Backpressure;
	readonly #attempts: Attempts;
	/** A retry that is due in more than this was scheduled while the clock was ahead, milliseconds. */
	readonly #longestWaitMs: number;
	#wanted: Wanted[] = [];

	constructor(work: ProjectWork, backpressure: Backpressure, attempts: Attempts) {
		this.#work = work;
		this.#backpressure = backpressure;
		this.#attempts = attempts;
		this.#longestWaitMs = Math.max(0, ...work.context.retryDelaysMs) + MARGIN_MS;
	}

	start(lane: Lane, name: QueueName): StartResult {
		return this.#startDue(lane, name, this.#dueBy(name));
	}

	/**
	 * Drops the lane's queues from memory if even its next retry was scheduled while the clock was ahead. They are then read
	 * again, and due now, instead of waiting for the time that the clock had shown.
	 */
	dropImplausible(lane: Lane, now: number): void {
		if ((lane.nextDueAt ?? now) > now + this.#longestWaitMs) lane.invalidateRetries();
	}

	/** Reads the heads of exhausted queues. */
	load(lane: Lane): void {
		for (const name of QUEUE_NAMES) if (lane.queue(name).wantsLoad(this.#dueBy(name))) this.#loadQueue(lane, name);
	}

	/**
	 * Starts user requests in the slots reserved for them. Those that find no reserved slot take turns with the other
	 * attempts. Test events have negative sequence numbers, and are small.
	 */
	startRequested(lane: Lane): void {
		const queue = lane.queue("requested");
		while (queue.hasDue(AT_ANY_TIME)) {
			const slot = this.#backpressure.requested.slotFor(lane, queue.next!.seq < 0 ? SENDS.smallBodyBytes : undefined);
			if (!slot) return;
			this.#take(lane, "requested", slot);
		}
	}

	/** Closes everything pending for a deleted webhook, due or not. @returns whether nothing is left */
	close(lane: Lane): boolean {
		for (const name of QUEUE_NAMES) {
			while (this.#startDue(lane, name, AT_ANY_TIME) === "started");
			if (lane.queue(name).wantsLoad(AT_ANY_TIME)) this.#loadQueue(lane, name);
		}
		return lane.queuesEmpty;
	}

	/** Closes the attempts of a paused lane that have been due for longer than the retention. */
	expire(lane: Lane): void {
		const { retentionNow, retentionMs } = this.#work.context;
		const overdue = retentionNow() - retentionMs;
		let isOver = true;
		for (const name of QUEUE_NAMES) {
			while (this.#startDue(lane, name, overdue) === "started");
			const queue = lane.queue(name);
			if (queue.wantsLoad(overdue)) this.#loadQueue(lane, name);
			if ((queue.nextDueAt ?? Number.POSITIVE_INFINITY) <= overdue) isOver = false;
		}
		if (!isOver) return;
		lane.sweepingQueues = false;
		lane.invalidateRetries(); // it may be paused for days
	}

	/** Reads the events of all attempts taken in this turn, in one query. */
	readBodies(): void {
		if (this.#wanted.length === 0) return;
		const { context, projectId } = this.#work;
		const wanted = this.#wanted;
		this.#wanted = [];
		const seqs = [...new Set(wanted.map(({ retry }) => retry.seq))];
		this.#work.read(
			context.storage.readEvents({ projectId, seqs }),
			(events) => this.#bodiesRead(wanted, events),
			() => release(wanted),
		);
	}

	#bodiesRead(wanted: readonly Wanted[], events: readonly LogEvent[] | null): void {
		const bySeq = new Map(events?.map((event) => [event.seq, event]));
		const left = new Set(wanted);
		try {
			for (const one of wanted) {
				this.#startWanted(one, bySeq.get(one.retry.seq), events !== null);
				left.delete(one);
			}
		} finally {
			release(left);
		}
		for (const { lane } of wanted) this.#work.revisit(lane);
	}

	end(): void {
		release(this.#wanted.splice(0));
	}

	/** Starts this queue's next attempt if it is due at `by`. */
	#startDue(lane: Lane, name: QueueName, by: number): StartResult {
		if (!lane.mayStartQueued(name) || !lane.queue(name).hasDue(by)) return "nothing";
		const slot = this.#backpressure.shared.slotFor(lane);
		if (!slot) return "no_capacity";
		this.#take(lane, name, slot);
		return "started";
	}

	#take(lane: Lane, name: QueueName, slot: Slot): void {
		try {
			const retry = lane.queue(name).shift()!;
			lane.queuedStarted(retry);
			this.#work.open.begin();
			this.#wanted.push({ lane, retry, slot });
		} catch (error) {
			slot.release();
			throw error;
		}
	}

	#loadQueue(lane: Lane, name: QueueName): void {
		const { context, projectId } = this.#work;
		const queue = lane.queue(name);
		const limit = queue.beginLoad(lane.queuedInFlight);
		const reading = context.storage.readRetries({ projectId, webhookId: lane.webhookId, queue: name, limit });
		this.#work.read(reading, (rows) => {
			if (rows) queue.endLoad(this.#withDueTimesCorrected(rows), limit, (retry) => lane.isInFlight(retry));
			else queue.abandonLoad();
			this.#work.revisit(lane);
		});
	}

	/** The rows, in order. Those that were scheduled while the clock was ahead are due now. */
	#withDueTimesCorrected(rows: readonly Retry[]): readonly Retry[] {
		const now = this.#work.context.clock.now();
		const last = rows.at(-1);
		if (last === undefined || last.dueAt <= now + this.#longestWaitMs) return rows;
		return rows
			.map((row) => (row.dueAt > now + this.#longestWaitMs ? { ...row, dueAt: now } : row))
			.sort((a, b) => a.dueAt - b.dueAt || a.seq - b.seq);
	}

	/** @param event undefined if the read failed or the event doesn't exist */
	#startWanted({ lane, retry, slot }: Wanted, event: LogEvent | undefined, wasRead: boolean): void {
		this.#work.open.end();
		const closing = event && this.#closingReason(lane, retry, event);
		const endsWhilePaused = closing === "expired" || closing === "test_cancelled";
		if (event && this.#work.mayStart && (lane.active || lane.deleted || (endsWhilePaused && !lane.gone))) {
			slot.holds(event.body.length);
			if (closing) this.#attempts.close(lane, event, retry, slot, closing);
			else this.#attempts.send(lane, event, retry, slot);
			return;
		}
		slot.release();
		lane.queuedEnded(retry);
		if (wasRead && !event) {
			// A bug, or a damaged database. The retry stays marked as in flight, so that it isn't taken again and again.
			const { context, projectId } = this.#work;
			context.logger.error({ projectId, ...retry }, "the event of a pending retry is missing from the log");
			return;
		}
		lane.queuedCommitted(retry);
		lane.queue(retry.queue).add(retry);
	}

	#closingReason(lane: Lane, retry: Retry, event: LogEvent): ClosingReason | null {
		if (lane.deleted) return "deleted";
		if (event.seq < 0 && event.publishedAt === cancelledMark(retry.replay)) return "test_cancelled";
		const { retentionNow, retentionMs } = this.#work.context;
		if (retry.dueAt <= retentionNow() - retentionMs) return "expired";
		return lane.closingReason(retry, event.type);
	}

	/** User requests are always due, even if the clock was set back. */
	#dueBy(name: QueueName): number {
		return name === "requested" ? AT_ANY_TIME : this.#work.context.clock.now();
	}
}

function release(wanted: Iterable<Wanted>): void {
	for (const { slot } of wanted) slot.release();
}
