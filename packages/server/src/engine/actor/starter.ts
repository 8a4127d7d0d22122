import { LONGEST_WAIT_MS } from "../../base/clock.ts";
import type { LogEvent, RetryQueue as QueueName, Retry } from "../../storage/port.ts";
import type { Lane } from "../lanes/lane.ts";
import { ANY_READ } from "../lanes/log-reader.ts";
import type { ClosingReason } from "../send/outcome.ts";
import type { Slot } from "../send/slots.ts";
import type { Flight } from "./flight.ts";
import type { Wanted } from "./messages.ts";
import type { ProjectWork } from "./project-work.ts";
import { Room } from "./room.ts";

/** Deliveries that one lane closes in one turn without a request, before others get theirs. */
const CLOSE_AT_ONCE = 200;
/** A cursor that only passed over events is committed when it is this far ahead of storage. */
const MAX_LAG = 2_000;

/** Starts what lanes may start: due retries, replays, and first attempts in log order. */
export class Starter {
	readonly #work: ProjectWork;
	readonly #room: Room;
	readonly #commitCursor: (lane: Lane) => void;
	#wanted: Wanted[] = [];

	constructor(work: ProjectWork, commitCursor: (lane: Lane) => void) {
		this.#work = work;
		this.#room = new Room(work);
		this.#commitCursor = commitCursor;
	}

	/** Starts whatever this lane may start now, and sees to it that it is looked at again when it may start more. */
	pump(lane: Lane): void {
		if (lane.gone || !this.#work.mayStart) return;
		const now = this.#work.context.clock.now();
		if (lane.active) {
			this.#pumpQueue(lane, "retry", now);
			this.#pumpQueue(lane, "replay", now);
		} else if (lane.sweepingQueues) this.#expireQueued(lane, now);
		if (lane.active || lane.sweeping) this.#pumpLog(lane);
		this.#setAlarm(lane, now);
	}

	/** There is room again. */
	freed(slot: Slot | null): void {
		this.#room.freed(slot, (lane) => this.pump(lane));
	}

	/** Reads the events of all waiting attempts that were taken up in this turn, at once. */
	readBodies(): void {
		if (this.#wanted.length === 0) return;
		const { context, projectId, post, readFailed } = this.#work;
		const wanted = this.#wanted;
		this.#wanted = [];
		const seqs = [...new Set(wanted.map(({ retry }) => retry.seq))];
		context.storage.readEvents(projectId, seqs).then(
			(events) => post({ kind: "bodies", wanted, events }),
			(error) => readFailed(error, () => post({ kind: "bodies", wanted, events: null })),
		);
	}

	/** The events of waiting attempts are here. */
	startQueued(wanted: readonly Wanted[], events: readonly LogEvent[] | null): void {
		const bySeq = new Map(events?.map((event) => [event.seq, event]));
		for (const { lane, retry, slot } of wanted) {
			this.#work.open.end();
			const event = bySeq.get(retry.seq);
			const closing = event && this.#closingReason(lane, retry, event);
			if (event && this.#work.mayStart && (lane.active || (closing === "expired" && !lane.gone))) {
				const flight = this.#flight(lane, event, retry, slot);
				if (closing) this.#close(flight, closing);
				else this.#launch(flight);
				continue;
			}
			slot.release();
			lane.queuedEnded(retry);
			if (events && !event) {
				// A bug, or a damaged database. Left as under way, so that it is not looked at again and again.
				const { context, projectId } = this.#work;
				context.logger.error({ projectId, ...retry }, "the event of a waiting retry is gone");
				continue;
			}
			lane.queuedCommitted(retry);
			lane.queue(retry.queue).add(retry);
		}
	}

	/** The webhook is gone. */
	forget(lane: Lane): void {
		lane.alarm?.timer.cancel();
		this.#room.forget(lane);
	}

	end(): void {
		this.#room.end();
		for (const { slot } of this.#wanted.splice(0)) slot.release();
	}

	// ── first attempts ──

	#pumpLog(lane: Lane): void {
		const { clock, retentionMs, settler } = this.#work.context;
		const expiredBefore = clock.now() - retentionMs;
		for (let closed = 0; lane.mayStartFirst; ) {
			const event = lane.peekEvent();
			if (!event) {
				if (this.#feed(lane)) continue;
				break;
			}
			if (event.publishedAt <= expiredBefore) {
				if (closed === CLOSE_AT_ONCE || !settler.hasRoom) {
					this.#room.wait(lane);
					return;
				}
				closed += 1;
				lane.takeEvent(event);
				this.#close(this.#flight(lane, event, null, null), "expired");
				continue;
			}
			lane.sweeping = false;
			if (!lane.active) {
				lane.chunk = undefined; // it may be paused for days
				return;
			}
			const slot = this.#room.slotFor(lane);
			if (!slot) return;
			lane.takeEvent(event);
			this.#launch(this.#flight(lane, event, null, slot));
		}
		if (lane.lag >= MAX_LAG) this.#commitCursor(lane);
	}

	/** Gives the lane the chunk that it goes on with. False when there is none to go on with now. */
	#feed(lane: Lane): boolean {
		const { reader } = this.#work;
		if (lane.awaits !== null) return false;
		if (lane.position >= reader.lastSeq) {
			lane.sweeping = false;
			return false;
		}
		const chunk = reader.find(lane);
		if (chunk) {
			lane.use(chunk);
			return true;
		}
		lane.awaits = reader.request(lane) ?? ANY_READ;
		return false;
	}

	// ── retries and replays ──

	#pumpQueue(lane: Lane, name: QueueName, now: number): void {
		const queue = lane.queue(name);
		while (lane.mayStartQueued(name)) {
			const retry = queue.peek();
			if (!retry || retry.dueAt > now) break;
			const slot = this.#room.slotFor(lane);
			if (!slot) return;
			queue.shift();
			lane.queuedStarted(retry);
			this.#work.open.begin();
			this.#wanted.push({ lane, retry, slot });
		}
		if (queue.wantsLoad(now)) this.#loadQueue(lane, name);
	}

	/** Takes up what has waited in a paused lane since before the retention began: it is closed. */
	#expireQueued(lane: Lane, now: number): void {
		const overdue = now - this.#work.context.retentionMs;
		this.#pumpQueue(lane, "retry", overdue);
		this.#pumpQueue(lane, "replay", overdue);
		const isOver = (name: QueueName) => (lane.queue(name).nextDueAt ?? Number.POSITIVE_INFINITY) > overdue;
		if (!isOver("retry") || !isOver("replay")) return;
		lane.sweepingQueues = false;
		lane.invalidateRetries(); // it may be paused for days
	}

	#loadQueue(lane: Lane, name: QueueName): void {
		const { context, projectId, post, readFailed } = this.#work;
		const limit = lane.queue(name).beginLoad(lane.queuedUnderWay);
		context.storage.readRetries(projectId, lane.webhookId, name, limit).then(
			(rows) => post({ kind: "queue", lane, name, rows, limit }),
			(error) => readFailed(error, () => post({ kind: "queue", lane, name, rows: null, limit })),
		);
	}

	#closingReason(lane: Lane, retry: Retry, event: LogEvent): ClosingReason | null {
		const { clock, retentionMs } = this.#work.context;
		const retentionBegan = clock.now() - retentionMs;
		const unattempted = retry.replay === 0 && retry.attempt === 1;
		if (retry.dueAt <= retentionBegan || (unattempted && event.publishedAt <= retentionBegan)) return "expired";
		return lane.closingReason(retry, event);
	}

	/** Sees to it that the lane is looked at when its next retry is due. */
	#setAlarm(lane: Lane, now: number): void {
		const { clock } = this.#work.context;
		const due = lane.active ? lane.nextDueAt : null;
		if (due === (lane.alarm?.at ?? null)) return;
		lane.alarm?.timer.cancel();
		lane.alarm = null;
		if (due === null || due <= now) return; // what is due waits for room or for a read, not for the time
		const timer = clock.setTimeout(
			() => {
				lane.alarm = null;
				this.#work.post({ kind: "look", lane });
			},
			Math.min(due - now, LONGEST_WAIT_MS),
		);
		lane.alarm = { at: due, timer };
	}

	// ── off it goes ──

	/** @param retry null for a first attempt of the lane */
	#flight(lane: Lane, event: LogEvent, retry: Retry | null, slot: Slot | null): Flight {
		const attemptId = this.#work.context.ids.next("attempt");
		return { lane, event, attemptId, attempt: retry?.attempt ?? 1, replay: retry?.replay ?? 0, retry, slot };
	}

	#launch(flight: Flight): void {
		const { event, lane, slot } = flight;
		const { context, open, post } = this.#work;
		open.begin();
		context.sender.send({ eventId: event.id, eventType: event.type, body: event.body, target: lane.target }).then(
			(outcome) => post({ kind: "ended", flight, outcome }),
			(error) => {
				slot?.release();
				post({ kind: "fault", error });
			},
		);
	}

	/** Ends a delivery without a request. */
	#close(flight: Flight, reason: ClosingReason): void {
		const { context, open, post } = this.#work;
		const now = context.clock.now();
		open.begin();
		post({ kind: "ended", flight, outcome: { kind: "not_sent", reason, startedAt: now, endedAt: now } });
	}
}
