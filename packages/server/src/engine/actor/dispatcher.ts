import { COMMITS } from "../../base/budgets.ts";
import { LONGEST_WAIT_MS } from "../../base/clock.ts";
import type { Shortage } from "../../net/shortages.ts";
import type { LogEvent } from "../../storage/port.ts";
import type { Lane } from "../lanes/lane.ts";
import { ANY_READ, OPEN_READ } from "../lanes/log-reader.ts";
import type { LaneEvent } from "../lanes/packed-events.ts";
import type { Slot } from "../send/slot.ts";
import type { Attempts, InFlight } from "./attempt.ts";
import { Backpressure, type SlotKind, type StartResult } from "./backpressure.ts";
import type { ProjectWork } from "./context.ts";
import { QueueDispatcher } from "./queue-dispatcher.ts";

/** The kinds of attempt, in the order in which a lane starts them: one kind each turn. */
const CLASSES = ["requested", "first", "retry", "replay"] as const;

/**
 * Starts what lanes may start: first attempts in log order, due retries, replays, and user requests.
 *
 * The kinds of attempt take turns, so that none of them keeps the others out where slots are scarce. User requests try
 * the slots reserved for them first.
 */
export class Dispatcher {
	readonly #work: ProjectWork;
	readonly #backpressure: Backpressure;
	readonly #attempts: Attempts;
	/** Starts queued attempts: retries, replays, and user requests. */
	readonly queued: QueueDispatcher;
	readonly #allClosed: (lane: Lane) => void;
	/** Number of events closed without an attempt whose commit is pending. Beyond a limit, lanes wait for it to fall. */
	#closing = 0;
	readonly #waitingToClose = new Set<Lane>();
	/** Lanes that wait for a local shortage to end. */
	readonly #resting = new Set<Lane>();
	/** Lanes that had something to start while starting wasn't allowed. */
	readonly #halted = new Set<Lane>();
	readonly #onRested = (): void => this.#work.post({ kind: "rested" });

	/** @param allClosed called when nothing is pending for a deleted webhook */
	constructor(work: ProjectWork, attempts: Attempts, allClosed: (lane: Lane) => void) {
		this.#work = work;
		this.#backpressure = new Backpressure(work);
		this.#attempts = attempts;
		this.queued = new QueueDispatcher(work, this.#backpressure, this.#attempts);
		this.#allClosed = allClosed;
	}

	/** Starts everything that this lane may start now, and sets its timer for the next retry. */
	pump(lane: Lane): void {
		this.#start(lane);
		if (lane.awaits === null) this.#backpressure.releaseClaimed(lane);
	}

	#start(lane: Lane): void {
		if (lane.gone || this.#resting.has(lane)) return;
		if (!this.#work.mayStart) {
			this.#halted.add(lane);
			return;
		}
		const { context, reader } = this.#work;
		const now = context.clock.now();
		lane.unfollow(reader);
		if (lane.active) {
			this.queued.dropImplausible(lane, now);
			if (lane.hasQueued(now)) {
				this.queued.startRequested(lane);
				this.#takeTurns(lane);
				this.queued.load(lane);
			} else while (this.#startFirst(lane) === "started");
			lane.follow(reader);
		} else if (lane.deleted) {
			reader.leave(lane);
			if (this.queued.close(lane)) this.#allClosed(lane);
		} else {
			if (lane.sweepingQueues) this.queued.expire(lane);
			// Another node may have swept, which doesn't notify the project's owner.
			if (this.#isPastRetention(lane.oldestAt)) lane.sweeping = true;
			if (lane.sweeping) {
				reader.enter(lane);
				while (this.#startFirst(lane) === "started");
			}
			if (!lane.sweeping) reader.leave(lane);
		}
		if (lane.owesProgress) this.#attempts.storeProgress(lane);
		this.#setAlarm(lane, now);
	}

	#takeTurns(lane: Lane): void {
		for (let idle = 0; idle < CLASSES.length; ) {
			const name = CLASSES[lane.turn]!;
			const result = name === "first" ? this.#startFirst(lane) : this.queued.start(lane, name);
			// The lane keeps its turn: the next slot is for this kind.
			if (result === "no_capacity") return;
			lane.turn = (lane.turn + 1) % CLASSES.length;
			idle = result === "started" ? 0 : idle + 1;
		}
	}

	/** An attempt of this lane ran into a local shortage: the lane starts nothing until it is time to try again. */
	rest(lane: Lane, shortage: Shortage): void {
		this.#resting.add(lane);
		this.#work.context.shortages.wait(shortage, this.#onRested);
	}

	/** Lanes may start again. @returns those that had something to start meanwhile */
	takeHalted(): readonly Lane[] {
		const halted = [...this.#halted];
		this.#halted.clear();
		return halted;
	}

	rested(): void {
		this.#resting.clear();
	}

	freed(kind: SlotKind, slot: Slot | null): void {
		this.#backpressure[kind].freed(slot, (lane) => this.pump(lane));
	}

	committed({ slot }: InFlight): void {
		if (slot) return;
		this.#closing -= 1;
		if (this.#waitingToClose.size === 0) return;
		for (const lane of this.#waitingToClose) this.#work.post({ kind: "look", lane });
		this.#waitingToClose.clear();
	}

	/** Drops the timer, slots and queue entries of a removed webhook's lane. */
	forget(lane: Lane): void {
		lane.alarm?.timer.cancel();
		this.#resting.delete(lane);
		this.#halted.delete(lane);
		this.#backpressure.forget(lane);
		this.#waitingToClose.delete(lane);
	}

	end(): void {
		this.#work.context.shortages.forget(this.#onRested);
		this.#backpressure.end();
		this.queued.end();
	}

	// ── first attempts ──

	#startFirst(lane: Lane): StartResult {
		if (!lane.mayStartFirst) return "nothing";
		const event = this.#nextEvent(lane);
		if (typeof event === "string") return event;
		if (this.#isPastRetention(event.publishedAt)) return this.#closeFirst(lane, event);
		lane.sweeping = false;
		lane.oldestAt = event.publishedAt;
		if (lane.active) return this.#sendFirst(lane, event);
		lane.forgetEvents(); // it may be paused for days
		return "nothing";
	}

	/** The next event, in memory. If it has to be read first, the lane is visited again afterwards. */
	#nextEvent(lane: Lane): LaneEvent | Exclude<StartResult, "started"> {
		for (;;) {
			const event = lane.peekEvent();
			if (event) return event;
			const refused = lane.awaits === null ? lane.refusedBytes : null;
			if (refused !== null && !this.#backpressure.claim(lane, refused)) return "no_capacity";
			if (!this.#feed(lane)) return "nothing";
		}
	}

	#sendFirst(lane: Lane, event: LaneEvent): StartResult {
		const bytes = event.body.length;
		const slot = this.#backpressure.takeClaimed(lane, bytes) ?? this.#backpressure.shared.slotFor(lane, bytes);
		if (!slot) {
			lane.refusedBytes = bytes;
			return "no_capacity";
		}
		try {
			lane.takeEvent(event);
			this.#attempts.send(lane, event, null, slot);
		} catch (error) {
			slot.release();
			throw error;
		}
		return "started";
	}

	#isPastRetention(at: number): boolean {
		const { retentionNow, retentionMs } = this.#work.context;
		return at <= retentionNow() - retentionMs;
	}

	/** Closes an event past its retention. Limited, because each needs a commit, as other outcomes do. */
	#closeFirst(lane: Lane, event: LaneEvent): StartResult {
		if (!this.#work.context.settler.hasRoom(this.#work.projectId)) {
			this.#backpressure.shared.wait(lane);
			return "nothing";
		}
		if (this.#closing >= COMMITS.closingPerProject) {
			this.#waitingToClose.add(lane);
			return "nothing";
		}
		this.#closing += 1;
		lane.takeEvent(event);
		this.#attempts.close(lane, event, null, null, "expired");
		return "started";
	}

	/** Gives the lane the chunk that it continues with. False if there is none to continue with yet. */
	#feed(lane: Lane): boolean {
		const { reader } = this.#work;
		if (lane.awaits !== null) return false;
		if (lane.open.unread.length > 0) {
			this.#readOpen(lane);
			return false;
		}
		if (lane.position >= reader.lastSeq) {
			lane.sweeping = false;
			lane.oldestAt = this.#work.context.clock.now();
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

	#readOpen(lane: Lane): void {
		const { context, projectId } = this.#work;
		const seqs = lane.open.unread;
		lane.awaits = OPEN_READ;
		this.#work.read(context.storage.readEvents({ projectId, seqs }), (events) => this.#openRead(lane, seqs, events));
	}

	#openRead(lane: Lane, seqs: readonly number[], events: readonly LogEvent[] | null): void {
		this.#work.revisit(lane);
		lane.awaits = null;
		if (!events) return;
		lane.open.read(seqs, this.#work.reader.holdOpen(events));
		if (events.length === seqs.length) return;
		// A bug, or a damaged database.
		const { context, projectId } = this.#work;
		const missing = seqs.filter((seq) => !events.some((event) => event.seq === seq));
		context.logger.error(
			{ projectId, webhookId: lane.webhookId, missing },
			"events that were in flight are missing from the log",
		);
	}

	#setAlarm(lane: Lane, now: number): void {
		const { clock } = this.#work.context;
		const due = lane.active ? lane.nextDueAt : null;
		if (due === (lane.alarm?.at ?? null)) return;
		lane.alarm?.timer.cancel();
		lane.alarm = null;
		if (due === null || due <= now) return; // a due retry waits for a slot or a read, not for time to pass
		const timer = clock.setTimeout(
			() => {
				lane.alarm = null;
				this.#work.post({ kind: "look", lane });
			},
			Math.min(due - now, LONGEST_WAIT_MS),
		);
		lane.alarm = { at: due, timer };
	}
}
