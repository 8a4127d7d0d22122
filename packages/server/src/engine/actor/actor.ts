/**
 * The actor of a project: one inbox and one loop. It owns the project's lease, its lanes and their work in flight.
 * Everything from outside (a publish, a response, a commit, a read, a timer) arrives as a message, and only the loop
 * changes lanes. So no other code ever sees a lane halfway through a change.
 *
 * ```
 *              lease taken            lanes loaded
 *   (nothing) ─────────────▶ loading ─────────────▶ working ──▶ retiring ──▶ (nothing)
 *                                                     │  ▲        idle for a while, or the node stops:
 *                                                     ▼  │        finish, settle, release
 *                                                     held
 *                                       a change of webhooks is being stored
 * ```
 *
 * From any state it becomes `lost` when a settle finds that another node has the lease, when storage rejects its
 * outcomes, or when the log turns out to be shorter than what the actor has seen of it. It then drops its state and
 * writes nothing more. The next owner loads the project from storage.
 */
import { WINDOWS } from "../../base/budgets.ts";
import type { Moment } from "../../base/clock.ts";
import { Bag } from "../../base/collections.ts";
import type { AlarmMark, Claim, Lease, LogEvent } from "../../storage/port.ts";
import type { Lane } from "../lanes/lane.ts";
import { type Chunk, LogReader } from "../lanes/log-reader.ts";
import { AppliedLanes, type LaneChange } from "./applied-lanes.ts";
import { Attempts, type InFlight } from "./attempt.ts";
import { type ActorContext, Inbox, type LossReason, type Message, OpenWork } from "./context.ts";
import { Dispatcher } from "./dispatcher.ts";
import { type Handover, Retirement } from "./handover.ts";
import { LaneSet } from "./lane-set.ts";
import { HeldLease } from "./lease.ts";

const READ_RETRY_MS = 500;

export class Actor {
	readonly projectId: string;
	/** Monotonic time at which this node took the project. */
	readonly takenAt: number;
	readonly context: ActorContext;
	readonly lease: HeldLease;
	readonly reader: LogReader;
	/** Work that is in flight or not yet committed. */
	readonly open = new OpenWork();
	readonly inFlight = new Bag<InFlight>();
	readonly #onLost: (actor: Actor, why: LossReason) => void;
	readonly #inbox = new Inbox((messages) => this.#run(messages));
	readonly #lanes: LaneSet;
	readonly #applied: AppliedLanes;
	readonly #attempts: Attempts;
	readonly #retirement: Retirement;
	readonly #dispatcher: Dispatcher;
	/** When an event or an outcome last came in, milliseconds since the epoch. */
	#lastActive: number;
	/** Number of changes of webhooks that are being stored. */
	#holds = 0;
	/** Whether the other marked lanes are visited in the next turn of the event loop. */
	#isPaused = false;
	#isReadingEnd = false;
	/** Another append failed since that read began. */
	#mayHaveGrown = false;
	#isChecking = false;
	#isOver = false;

	/** @param onLost called when the actor ends on its own: its lease is gone, or its outcomes are rejected */
	constructor(context: ActorContext, lease: Lease, since: Moment, onLost: (actor: Actor, why: LossReason) => void) {
		const { projectId } = lease;
		this.projectId = projectId;
		this.context = context;
		this.#onLost = onLost;
		this.takenAt = context.clock.elapsed();
		this.#lastActive = context.clock.now();
		this.lease = new HeldLease(context, lease, since, () => this.post({ kind: "look", lane: null }));
		const { storage, budget } = context;
		this.reader = new LogReader({
			storage,
			projectId,
			budget,
			deliver: (key, reading) => this.read(reading, (chunk) => this.#windowRead(key, chunk)),
		});
		this.#lanes = new LaneSet(projectId, context, this.reader);
		this.#applied = new AppliedLanes(this, this.#lanes, (lane) => this.#drop(lane));
		this.#attempts = new Attempts(this);
		this.#retirement = new Retirement(this, this.#attempts);
		this.#dispatcher = new Dispatcher(this, this.#attempts, (lane) => {
			this.#drop(lane);
			this.#attempts.endDeletion(lane);
		});
	}

	/** Whether its lanes are loaded and no other node may run the project now. */
	get inCharge(): boolean {
		return this.mark !== null && this.lease.isTrusted;
	}

	/** Whether anything may be started: the lanes are loaded and not held, and the lease is trusted. */
	get mayStart(): boolean {
		return this.inCharge && this.#holds === 0 && !this.#retirement.begun;
	}

	/** Whether a started request may still be written: the lease is trusted. */
	mayLeave(): boolean {
		return !this.#isOver && this.#retirement.handover === null && this.lease.isTrusted;
	}

	readonly post = (message: Message): void => this.#inbox.post(message);

	/**
	 * Calls `handle` in the loop with what was read; with null, after a delay, if the read failed and must be repeated.
	 *
	 * @param discard called instead if the actor has ended
	 */
	read<T>(reading: Promise<T>, handle: (read: T | null) => void, discard?: () => void): void {
		const post = (read: T | null): void => this.post({ kind: "read", handle: () => handle(read), discard });
		const { readFailure, clock } = this.context;
		const done = (result: T): void => {
			readFailure.succeeded();
			post(result);
		};
		reading.then(done, (error: unknown) => {
			if (this.#isOver) {
				post(null);
				return;
			}
			const details = { projectId: this.projectId, retryInMs: READ_RETRY_MS };
			readFailure.failed(error, details);
			clock.setTimeout(() => post(null), READ_RETRY_MS);
		});
	}

	/** Marks a lane that may have something to start. Call it only from the loop. */
	revisit(lane: Lane): void {
		this.#lanes.mark(lane);
	}

	// ── from outside ──

	/** Loads the lanes from storage and applies them. @param change set if nothing else has changed */
	load(change: LaneChange | null = null): Promise<void> {
		return this.#applied.load(change);
	}

	/** Stops lanes from starting anything until {@link release} has been called as often as this. */
	hold(): void {
		this.#holds += 1;
	}

	release(): void {
		this.#holds -= 1;
		this.post({ kind: "released" });
	}

	/** What this actor knows, for a database that may have lost some of it; null if the two can't be compared. */
	claim(): Claim | null {
		if (this.#retirement.handover !== null) return null;
		return this.#applied.claim(this.lease.current, this.#attempts.lastCommitted);
	}

	/** The revision its lanes apply and the end of the log it knows; null until it has loaded. */
	get mark(): AlarmMark | null {
		return this.#applied.mark;
	}

	/** When it last had work, milliseconds since the epoch; null while it has some. */
	get idleSince(): number | null {
		if (this.mark === null || this.open.count > 0 || !this.#inbox.isEmpty || this.#holds > 0) return null;
		if (this.#applied.elsewhere.length > 0 || this.#lanes.hasMarked) return null;
		return this.#lanes.isIdle() ? this.#lastActive : null;
	}

	/** When the project next has work if no message arrives: now, at a time, or null for never. */
	get wakeAt(): number | null {
		let wakeAt = this.#lanes.wakeAt();
		for (const { until } of [...this.#applied.elsewhere, ...(this.#retirement.handover?.attempts ?? [])])
			wakeAt = Math.min(wakeAt ?? until, until);
		return wakeAt;
	}

	/**
	 * Starts nothing more, waits until everything in flight is committed, and commits the lanes' positions. Attempts that
	 * take too long are handed over if their requests were written; after that, nothing else is written.
	 *
	 * @returns what to release the lease with. If the actor was lost meanwhile, there is nothing to release, and settling
	 *   the handed-over attempts will be rejected.
	 */
	async retire(): Promise<{ readonly seen: AlarmMark; readonly handover: Handover | null }> {
		await this.#retirement.run(this.#lanes, () => this.#becomeQuiet());
		// A project that was never loaded hasn't been seen: its alarm stays due.
		return { seen: this.mark ?? { lastSeq: -1, revision: -1 }, handover: this.#retirement.handover };
	}

	async #becomeQuiet(): Promise<void> {
		if (!this.#isOver && (this.open.count > 0 || !this.#inbox.isEmpty)) await this.open.whenQuiet();
	}

	/** Frees memory, timers and slots. Nothing is written after this. */
	end(): void {
		if (this.#isOver) return;
		this.#isOver = true;
		for (const lane of this.#lanes) this.#dispatcher.forget(lane);
		this.#lanes.clear();
		this.#dispatcher.end();
		this.#applied.end();
		this.lease.end();
		this.reader.end();
		this.open.becameQuiet();
	}

	#lose(why: LossReason): void {
		if (this.#isOver) return;
		this.end();
		this.#onLost(this, why);
	}

	// ── the loop ──

	/**
	 * Handles these messages, then starts everything the marked lanes may start. If there is very much of it, it continues
	 * in the next turn of the event loop, so that other projects aren't delayed. A bug in our code ends the actor.
	 */
	#run(messages: readonly Message[]): void {
		let at = 0;
		try {
			while (at < messages.length) this.#receive(messages[at++]!);
			if (!this.#isOver) {
				if (!this.#isPaused) this.#lookAtMarked();
				this.#dispatcher.queued.readBodies();
			}
		} catch (error) {
			this.context.logger.error({ err: error, projectId: this.projectId }, "a project's actor failed");
			this.#lose("fault");
			for (const message of messages.slice(at)) this.#discard(message);
		}
		if (this.open.count === 0 && this.#inbox.isEmpty) this.open.becameQuiet();
	}

	#lookAtMarked(): void {
		this.#lanes.lookAtMarked((lane) => this.#dispatcher.pump(lane), WINDOWS.lanesPerTurn);
		if (!this.#lanes.hasMarked) return;
		this.#isPaused = true;
		this.context.clock.setImmediate(() => this.post({ kind: "continue" }));
	}

	#receive(message: Message): void {
		if (this.#isOver) {
			this.#discard(message);
			return;
		}
		const { reader, open } = this;
		const lanes = this.#lanes;
		switch (message.kind) {
			case "loaded":
				message.done();
				// Once attempts are handed over, the lanes stay as they are: nothing may be written.
				if (this.#retirement.handover === null) this.#applied.apply(message);
				break;
			case "appended":
				this.#appended(message.events);
				break;
			case "recheck":
				this.#readEnd();
				break;
			case "rewound":
				this.#lose("rewound");
				break;
			case "reaches":
				this.#becameActive();
				reader.reaches(message.lastSeq);
				lanes.announceAll();
				break;
			case "read":
				message.handle();
				break;
			case "ended":
				this.#ended(message);
				break;
			case "committed":
				open.end();
				if (message.result === "settled") {
					this.#attempts.committed(message);
					this.#dispatcher.committed(message.inFlight);
					if (message.inFlight.retry || message.consequence.schedule) lanes.mark(message.inFlight.lane);
					if (message.inFlight.lane.gone && message.consequence.schedule) this.#reload();
				} else this.#lose(message.result);
				break;
			case "position_committed":
				open.end();
				if (message.result !== "settled") this.#lose(message.result);
				break;
			case "deletion_ended":
				open.end();
				break;
			case "queues_changed":
				lanes.invalidateRetries(message.webhookId);
				break;
			case "look":
				if (message.lane) lanes.mark(message.lane);
				else lanes.markAll();
				break;
			case "continue":
				this.#isPaused = false;
				break;
			case "released":
				if (this.#holds === 0) for (const lane of this.#dispatcher.takeHalted()) lanes.mark(lane);
				break;
			case "hand_over":
				this.#retirement.handOver();
				break;
			case "freed":
				this.#dispatcher.freed(message.slots, message.slot);
				break;
			case "rested":
				this.#dispatcher.rested();
				lanes.markAll();
				break;
			case "sweep":
				lanes.sweep();
				break;
			case "fault":
				throw message.error;
		}
	}

	/** An attempt was scheduled for a webhook that had just been deleted: loads its lane again, to close it. */
	#reload(): void {
		this.open.begin();
		const loading = this.load().then(() => true);
		this.read(loading, (isLoaded) => {
			this.open.end();
			if (!isLoaded) this.#reload();
		});
	}

	#windowRead(key: string, chunk: Chunk | null): void {
		const { reader } = this;
		this.#lanes.windowRead(key, chunk);
		// The read may have found another node's events before their announcement, which then brings no news.
		if (reader.lastSeq > reader.announced) this.#lanes.announceAll();
	}

	#appended(events: readonly LogEvent[]): void {
		this.#becameActive();
		const { reader } = this;
		// If other events are in between, their types are unknown here. A lane may be about to want more types while a change
		// is being stored.
		const follows = events.every(({ seq }, index) => seq === reader.announced + 1 + index);
		const isNews = reader.lastSeq === reader.announced && follows && this.#holds === 0;
		const doubtful = reader.appended(events, this.#lanes.foremostFor(events));
		if (doubtful) this.#check(doubtful);
		if (isNews) this.#lanes.announce(events);
		else this.#lanes.announceAll();
	}

	/** Reads the end of the log after an append whose result is unknown. One read at a time: in an outage every append fails. */
	#readEnd(): void {
		this.#mayHaveGrown = this.#isReadingEnd;
		if (this.#isReadingEnd) return;
		this.#isReadingEnd = true;
		const reading = this.context.storage.readLogEnd({ projectId: this.projectId }).then((end) => ({ end }));
		this.read(reading, (read) => {
			this.#isReadingEnd = false;
			if (read?.end) this.post({ kind: "reaches", lastSeq: read.end.lastSeq });
			if (read === null || this.#mayHaveGrown) this.#readEnd();
		});
	}

	/** Checks that the log still holds this event under its sequence number. One check at a time. */
	#check(event: LogEvent): void {
		if (this.#isChecking) return;
		this.#isChecking = true;
		this.context.storage
			.readEvents({ projectId: this.projectId, seqs: [event.seq] })
			.then(([stored]) => {
				if (stored?.id !== event.id) this.post({ kind: "rewound" });
			})
			// A rewound log is also detected by the check for remote changes, and by settling.
			.catch(() => undefined)
			.finally(() => {
				this.#isChecking = false;
			});
	}

	#ended(message: Extract<Message, { kind: "ended" }>): void {
		const { inFlight, outcome } = message;
		if (!this.#attempts.ended(inFlight, outcome)) {
			this.#discard(message);
			return;
		}
		this.#becameActive();
		if (outcome.kind === "deferred") this.#dispatcher.rest(inFlight.lane, outcome.shortage);
		this.#lanes.mark(inFlight.lane);
	}

	/** A message that arrives after the actor has ended only releases what it holds. */
	#discard(message: Message): void {
		if (message.kind === "ended") {
			if (!this.#retirement.handover?.ended(message.inFlight, message.outcome)) message.inFlight.slot?.release();
		} else if (message.kind === "loaded") message.done();
		else if (message.kind === "freed") message.slot?.release();
		else if (message.kind === "read") message.discard?.();
	}

	#drop(lane: Lane): void {
		this.#dispatcher.forget(lane);
		this.#lanes.drop(lane);
	}

	#becameActive(): void {
		this.#lastActive = this.context.clock.now();
	}
}
