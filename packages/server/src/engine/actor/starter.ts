import { COMMITS, SENDS } from "../../base/budgets.ts";
import { LONGEST_WAIT_MS } from "../../base/clock.ts";
import type { LogEvent, RetryQueue as QueueName, Retry } from "../../storage/port.ts";
import { type Lane, QUEUE_NAMES } from "../lanes/lane.ts";
import { ANY_READ, OPEN_READ } from "../lanes/log-reader.ts";
import type { ClosingReason } from "../send/outcome.ts";
import type { Shortage } from "../send/shortages.ts";
import type { Slot } from "../send/slots.ts";
import type { Flight } from "./flight.ts";
import type { Message, Wanted } from "./messages.ts";
import type { ProjectWork } from "./project-work.ts";
import { Room, type SlotKind } from "./room.ts";

/** The position of a lane that only passed over events is committed when it is this far ahead of storage. */
const MAX_LAG = 2_000;

/** Later than anything is due. */
const AT_ANY_TIME = Number.MAX_SAFE_INTEGER;

/** What a lane starts, and in which order: a class each turn. */
const CLASSES = ["requested", "first", "retry", "replay"] as const;

/** What came of a turn. */
type Turn = "started" | "nothing" | "no_room";

/**
 * Starts what lanes may start: first attempts in log order, due retries, replays, and what a person asked for.
 *
 * The classes of a lane take turns, so that where slots are scarce none of them keeps the others out. What a person asked
 * for first gets the slots that are set aside for it.
 */
export class Starter {
	readonly #work: ProjectWork;
	readonly #room: Room;
	readonly #commitPosition: (lane: Lane) => void;
	readonly #allClosed: (lane: Lane) => void;
	#wanted: Wanted[] = [];
	/** Events that were closed without an attempt, not committed yet, and lanes that wait until fewer are. */
	#closing = 0;
	readonly #waitingToClose = new Set<Lane>();
	/** Lanes that wait for a shortage of ours to end. */
	readonly #resting = new Set<Lane>();
	readonly #onRested = (): void => this.#work.post({ kind: "rested" });

	/** @param allClosed called when nothing is pending for a deleted webhook */
	constructor(work: ProjectWork, commitPosition: (lane: Lane) => void, allClosed: (lane: Lane) => void) {
		this.#work = work;
		this.#room = new Room(work);
		this.#commitPosition = commitPosition;
		this.#allClosed = allClosed;
	}

	/** Starts whatever this lane may start now, and sees to it that it is looked at again when it may start more. */
	pump(lane: Lane): void {
		this.#start(lane);
		if (lane.awaits === null) this.#room.releaseReserved(lane);
	}

	#start(lane: Lane): void {
		if (lane.gone || this.#resting.has(lane) || !this.#work.mayStart) return;
		const now = this.#work.context.clock.now();
		if (lane.active) {
			if (lane.hasQueued(now)) {
				this.#startRequested(lane);
				this.#takeTurns(lane, now);
				for (const name of QUEUE_NAMES) if (lane.queue(name).wantsLoad(dueBy(name, now))) this.#loadQueue(lane, name);
			} else while (this.#startFirst(lane) === "started");
		} else if (lane.deleted) {
			this.#closeQueued(lane);
		} else {
			if (lane.sweepingQueues) this.#expireQueued(lane, now);
			if (lane.sweeping) while (this.#startFirst(lane) === "started");
		}
		if (lane.lag >= MAX_LAG) this.#commitPosition(lane);
		this.#setAlarm(lane, now);
	}

	#takeTurns(lane: Lane, now: number): void {
		for (let idle = 0; idle < CLASSES.length; ) {
			const name = CLASSES[lane.turn]!;
			const turn = name === "first" ? this.#startFirst(lane) : this.#startQueued(lane, name, dueBy(name, now));
			// It keeps its turn: the next slot is for this class.
			if (turn === "no_room") return;
			lane.turn = (lane.turn + 1) % CLASSES.length;
			idle = turn === "started" ? 0 : idle + 1;
		}
	}

	/** An attempt of this lane met a shortage of ours: the lane starts nothing until it is time to try again. */
	rest(lane: Lane, shortage: Shortage): void {
		this.#resting.add(lane);
		this.#work.context.shortages.wait(shortage, this.#onRested);
	}

	/** It is time to try again. */
	rested(): void {
		this.#resting.clear();
	}

	/** There is room again. */
	freed(kind: SlotKind, slot: Slot | null): void {
		this.#room.freed(kind, slot, (lane) => this.pump(lane));
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
		const left = new Set(wanted);
		try {
			for (const one of wanted) {
				this.#startWanted(one, bySeq.get(one.retry.seq), events !== null);
				left.delete(one);
			}
		} finally {
			for (const { slot } of left) slot.release();
		}
	}

	/** @param event undefined if the read failed, or the event is gone */
	#startWanted({ lane, retry, slot }: Wanted, event: LogEvent | undefined, wasRead: boolean): void {
		this.#work.open.end();
		const closing = event && this.#closingReason(lane, retry, event);
		if (event && this.#work.mayStart && (lane.active || lane.deleted || (closing === "expired" && !lane.gone))) {
			slot.holds(event.body.length);
			const flight = this.#flight(lane, event, retry, slot);
			if (closing) this.#close(flight, closing);
			else this.#launch(flight);
			return;
		}
		slot.release();
		lane.queuedEnded(retry);
		if (wasRead && !event) {
			// A bug, or a damaged database. Left as under way, so that it is not looked at again and again.
			const { context, projectId } = this.#work;
			context.logger.error({ projectId, ...retry }, "the event of a waiting retry is gone");
			return;
		}
		lane.queuedCommitted(retry);
		lane.queue(retry.queue).add(retry);
	}

	/** An outcome is committed. */
	committed({ slot }: Flight): void {
		if (slot) return;
		this.#closing -= 1;
		if (this.#waitingToClose.size === 0) return;
		for (const lane of this.#waitingToClose) this.#work.post({ kind: "look", lane });
		this.#waitingToClose.clear();
	}

	/** The webhook is gone. */
	forget(lane: Lane): void {
		lane.alarm?.timer.cancel();
		this.#resting.delete(lane);
		this.#room.forget(lane);
		this.#waitingToClose.delete(lane);
	}

	end(): void {
		this.#work.context.shortages.forget(this.#onRested);
		this.#room.end();
		for (const { slot } of this.#wanted.splice(0)) slot.release();
	}

	// ── first attempts ──

	#startFirst(lane: Lane): Turn {
		const { clock, retentionMs } = this.#work.context;
		while (lane.mayStartFirst) {
			const event = lane.peekEvent();
			if (!event) {
				const refused = lane.awaits === null ? lane.refusedBytes : null;
				if (refused !== null && !this.#room.reserve(lane, refused)) return "no_room";
				if (this.#feed(lane)) continue;
				break;
			}
			if (event.publishedAt <= clock.now() - retentionMs) return this.#closeFirst(lane, event);
			lane.sweeping = false;
			if (!lane.active) {
				lane.forgetEvents(); // it may be paused for days
				break;
			}
			const bytes = event.body.length;
			const slot = this.#room.takeReserved(lane, bytes) ?? this.#room.slotFor(lane, bytes);
			if (!slot) {
				lane.refusedBytes = bytes;
				return "no_room";
			}
			orRelease(slot, () => {
				lane.takeEvent(event);
				this.#launch(this.#flight(lane, event, null, slot));
			});
			return "started";
		}
		return "nothing";
	}

	/** Closes an event whose retention has ended. A few at a time, each with its commit: others have outcomes to commit, too. */
	#closeFirst(lane: Lane, event: LogEvent): Turn {
		if (!this.#work.context.settler.hasRoom(this.#work.projectId)) {
			this.#room.wait(lane);
			return "nothing";
		}
		if (this.#closing >= COMMITS.closingPerProject) {
			this.#waitingToClose.add(lane);
			return "nothing";
		}
		this.#closing += 1;
		lane.takeEvent(event);
		this.#close(this.#flight(lane, event, null, null), "expired");
		return "started";
	}

	/** Gives the lane the chunk that it continues with. False when there is none to continue with now. */
	#feed(lane: Lane): boolean {
		const { reader } = this.#work;
		if (lane.awaits !== null) return false;
		if (lane.unread.length > 0) {
			this.#readOpen(lane);
			return false;
		}
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

	/** Reads open events of the lane that have to be sent again. */
	#readOpen(lane: Lane): void {
		const { context, projectId, post, readFailed } = this.#work;
		const seqs = lane.unread;
		lane.awaits = OPEN_READ;
		context.storage.readEvents(projectId, seqs).then(
			(events) => post({ kind: "open", lane, seqs, events }),
			(error) => readFailed(error, () => post({ kind: "open", lane, seqs, events: null })),
		);
	}

	/** Open events were read: the lane may continue. */
	openRead({ lane, seqs, events }: Extract<Message, { kind: "open" }>): void {
		lane.awaits = null;
		if (!events) return;
		lane.openRead(seqs, this.#work.reader.holdOpen(events));
		if (events.length === seqs.length) return;
		// A bug, or a damaged database.
		const { context, projectId } = this.#work;
		const missing = seqs.filter((seq) => !events.some((event) => event.seq === seq));
		context.logger.error({ projectId, webhookId: lane.webhookId, missing }, "events that were in flight are gone");
	}

	// ── retries and replays ──

	/** Starts the next attempt of this queue if it was due by `now`. */
	#startQueued(lane: Lane, name: QueueName, now: number): Turn {
		if (!lane.mayStartQueued(name) || !lane.queue(name).hasDue(now)) return "nothing";
		const slot = this.#room.slotFor(lane);
		if (!slot) return "no_room";
		this.#take(lane, name, slot);
		return "started";
	}

	/**
	 * Starts what a person asked for, with the slots that are set aside for it. What finds none takes turns with the rest.
	 * Test events have negative numbers, and are small.
	 */
	#startRequested(lane: Lane): void {
		const queue = lane.queue("requested");
		while (queue.hasDue(AT_ANY_TIME)) {
			const slot = this.#room.requestedSlotFor(lane, queue.next!.seq < 0 ? SENDS.smallBodyBytes : undefined);
			if (!slot) return;
			this.#take(lane, "requested", slot);
		}
	}

	#take(lane: Lane, name: QueueName, slot: Slot): void {
		orRelease(slot, () => {
			const retry = lane.queue(name).shift()!;
			lane.queuedStarted(retry);
			this.#work.open.begin();
			this.#wanted.push({ lane, retry, slot });
		});
	}

	/** Takes up what is pending for a deleted webhook, due or not: it is closed. */
	#closeQueued(lane: Lane): void {
		for (const name of QUEUE_NAMES) {
			while (this.#startQueued(lane, name, AT_ANY_TIME) === "started");
			if (lane.queue(name).wantsLoad(AT_ANY_TIME)) this.#loadQueue(lane, name);
		}
		if (lane.queuesEmpty) this.#allClosed(lane);
	}

	/** Takes up what has waited in a paused lane since before the retention began: it is closed. */
	#expireQueued(lane: Lane, now: number): void {
		const overdue = now - this.#work.context.retentionMs;
		let isOver = true;
		for (const name of QUEUE_NAMES) {
			while (this.#startQueued(lane, name, overdue) === "started");
			const queue = lane.queue(name);
			if (queue.wantsLoad(overdue)) this.#loadQueue(lane, name);
			if ((queue.nextDueAt ?? Number.POSITIVE_INFINITY) <= overdue) isOver = false;
		}
		if (!isOver) return;
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
		if (lane.deleted) return "deleted";
		const { clock, retentionMs } = this.#work.context;
		if (retry.dueAt <= clock.now() - retentionMs) return "expired";
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
		const flight: Flight = {
			...{ lane, event, attemptId, attempt: retry?.attempt ?? 1, replay: retry?.replay ?? 0, retry, slot },
			startedAt: this.#work.context.clock.elapsed(),
			written: false,
		};
		this.#work.flights.add(flight);
		return flight;
	}

	#launch(flight: Flight): void {
		const { event, lane, slot } = flight;
		const { context, mayLeave, open, post } = this.#work;
		const { id: eventId, type: eventType, body } = event;
		open.begin();
		const onWritten = (): void => {
			flight.written = true;
		};
		context.sender.send({ eventId, eventType, body, target: lane.target, mayLeave, onWritten }).then(
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

/** What a person asked for is always due, whatever a clock that was set back makes of its time. */
const dueBy = (name: QueueName, now: number): number => (name === "requested" ? AT_ANY_TIME : now);

/** Passes the slot on; if that fails, it is free again. */
function orRelease(slot: Slot, passOn: () => void): void {
	try {
		passOn();
	} catch (error) {
		slot.release();
		throw error;
	}
}
