/**
 * The actor of a project: one inbox and one loop. It holds the project's lease, its lanes and what is under way for
 * them. Everything that happens elsewhere (a publish, an answer, a commit, a read, a timer) comes in as a message; only
 * the loop changes lanes, so nothing in here is ever halfway when something else looks.
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
 * From any state it is `lost` when a settle finds the lease gone to another node, when storage refuses its outcomes, or
 * when the log turns out to be shorter than what the actor has seen of it: it drops what it knows and writes nothing more.
 * Whoever takes the project next reads it from storage.
 */
import { Bag } from "../../base/bag.ts";
import type { Moment } from "../../base/clock.ts";
import type { Claim } from "../../storage/port/neighbours.ts";
import type { AlarmMark, Lease, LoadedLanes, LogEvent } from "../../storage/port.ts";
import type { Lane } from "../lanes/lane.ts";
import { LogReader } from "../lanes/log-reader.ts";
import type { SettleResult } from "../settle/settler.ts";
import type { ActorContext } from "./context.ts";
import { Elsewhere } from "./elsewhere.ts";
import { Finisher } from "./finisher.ts";
import type { Flight } from "./flight.ts";
import type { Handover } from "./handover.ts";
import { HeldLease } from "./held-lease.ts";
import { Inbox } from "./inbox.ts";
import { type LaneChange, LaneLoader } from "./lane-loader.ts";
import { LaneSet } from "./lane-set.ts";
import { LogCheck } from "./log-check.ts";
import type { Message } from "./messages.ts";
import { OpenWork, type ProjectWork } from "./project-work.ts";
import { Retirement } from "./retirement.ts";
import { Starter } from "./starter.ts";

/** After a read failed, it is tried again after this long. */
const READ_RETRY_MS = 500;

export type LossReason =
	| Exclude<SettleResult, "settled">
	/** The log went back: numbers that this actor has seen are missing, or belong to other events. */
	| "rewound"
	| "fault";

export class Actor {
	readonly projectId: string;
	/** When this node took the project up, by the clock that is never set. */
	readonly takenAt: number;
	readonly #context: ActorContext;
	readonly #onLost: (actor: Actor, why: LossReason) => void;
	readonly #inbox = new Inbox<Message>((messages) => this.#run(messages));
	readonly #lease: HeldLease;
	#lastCommitted: Claim["attempt"] = null;
	readonly #lanes: LaneSet;
	readonly #reader: LogReader;
	readonly #open = new OpenWork();
	readonly #work: ProjectWork;
	readonly #starter: Starter;
	readonly #finisher: Finisher;
	/** What the lanes that were loaded last include. */
	#seen: AlarmMark | null = null;
	#holds = 0;
	readonly #check: LogCheck;
	readonly #elsewhere: Elsewhere;
	readonly #flights = new Bag<Flight>();
	readonly #retirement: Retirement;
	#over = false;
	#lastActive: number;
	readonly #loader: LaneLoader;

	/** @param onLost called when it ended by itself: its lease is gone, or its outcomes are refused */
	constructor(context: ActorContext, lease: Lease, asked: Moment, onLost: (actor: Actor, why: LossReason) => void) {
		this.projectId = lease.projectId;
		this.#context = context;
		this.#onLost = onLost;
		this.#lease = new HeldLease(context, lease, asked);
		this.takenAt = context.clock.elapsed();
		this.#lastActive = context.clock.now();
		this.#lanes = new LaneSet(lease.projectId, context);
		this.#reader = new LogReader(context.storage, lease.projectId, 0, context.budget, (key, chunk, error) => {
			if (error) this.#readFailed(error, () => this.#post({ kind: "window", key, chunk: null }));
			else this.#post({ kind: "window", key, chunk });
		});
		const work = this.#shared(lease);
		this.#work = work;
		this.#check = new LogCheck(work);
		this.#finisher = new Finisher(work);
		this.#retirement = new Retirement(work, this.#finisher);
		this.#loader = new LaneLoader(work, () => this.#seen?.revision ?? null);
		this.#elsewhere = new Elsewhere(work, () => this.load());
		this.#starter = new Starter(
			work,
			(lane) => this.#finisher.commitPosition(lane),
			(lane) => {
				this.#drop(lane);
				this.#finisher.endDeletion(lane);
			},
		);
	}

	get lease(): Lease {
		return this.#lease.current;
	}

	get retiring(): boolean {
		return this.#retirement.begun;
	}

	/** Whether it works by what it has loaded, and nobody else may work the project now. */
	get inCharge(): boolean {
		return this.#seen !== null && this.isTrusted;
	}

	/** Whether nobody else may work the project now. */
	get isTrusted(): boolean {
		return this.#lease.isTrusted;
	}

	/** Whether another node may still use a lease that the database has lost. Until then it settles, but sends nothing. */
	get isSuspended(): boolean {
		return this.#lease.isSuspended;
	}

	// ── from outside ──

	/** Reads the lanes from storage and makes them so. Resolves when the loop has done it. @param change if that is all */
	load(change: LaneChange | null = null): Promise<void> {
		return this.#loader.load(change);
	}

	appended(events: readonly LogEvent[]): void {
		this.#post({ kind: "appended", events });
	}

	/** Other nodes published: the log goes as far as this. */
	reaches(lastSeq: number): void {
		this.#post({ kind: "reaches", lastSeq });
	}

	/** The log went back. */
	rewound(): void {
		this.#post({ kind: "rewound" });
	}

	/** Retries of this webhook (of all, if null) were stored by others. */
	queuesChanged(webhookId: string | null): void {
		this.#post({ kind: "queues_changed", webhookId });
	}

	/** Paused lanes should look for events whose retention has ended, and for what has waited for as long. */
	sweep(): void {
		this.#post({ kind: "sweep" });
	}

	/** The lease was prolonged. */
	renewed(lease: Lease, asked: Moment): void {
		if (this.#lease.renewed(lease, asked)) this.#post({ kind: "look", lane: null });
	}

	/** Lanes stand still from now on, until {@link release} was called as often. */
	hold(): void {
		this.#holds += 1;
	}

	release(): void {
		this.#holds -= 1;
		this.#post({ kind: "released" });
	}

	/** What it knows, for a database that may have lost some of it; null if that cannot be compared. */
	claim(holder: string): Claim | null {
		if (this.#seen === null || this.#retirement.handover !== null) return null;
		const { lastSeq, lastKnown: event } = this.#reader;
		for (const lane of this.#lanes) if (lane.position > Math.max(lane.state.position, event?.seq ?? 0)) return null;
		const { revision } = this.#seen;
		return { lease: this.lease, holder, revision, lastSeq, event, attempt: this.#lastCommitted };
	}

	/**
	 * The database is in another epoch and holds everything that this actor has claimed. From now on it works under this
	 * lease, and settles uncommitted outcomes under it. Unless its lease is trusted, it sends nothing for `waitMs`.
	 */
	continueAs(lease: Lease, waitMs: number): void {
		this.#work.lease.generation = lease.generation;
		this.#lease.continueAs(lease, waitMs, () => this.#post({ kind: "look", lane: null }));
	}

	/** What it goes by; null until it has loaded. */
	get mark(): AlarmMark | null {
		return this.#seen && { lastSeq: this.#reader.lastSeq, revision: this.#seen.revision };
	}

	/** When it last had something to do, milliseconds since the epoch; null while it has. */
	get idleSince(): number | null {
		return this.#isIdle() ? this.#lastActive : null;
	}

	/** When the project has work next, if nothing comes in: now, at a time, or null for never. */
	get wakeAt(): number | null {
		let wakeAt = this.#lanes.wakeAt(this.#reader.lastSeq);
		for (const { until } of [...this.#elsewhere.attempts, ...this.#retirement.attempts])
			wakeAt = Math.min(wakeAt ?? until, until);
		return wakeAt;
	}

	/**
	 * Starts nothing more, waits until what is in flight is committed, and commits where the lanes stand. Attempts that take
	 * longer are handed over, if their requests were written; nothing else is written any more.
	 *
	 * @returns what to release the lease with. If the actor was lost meanwhile, there is nothing to release, and what was to
	 *   be handed over will be refused.
	 */
	async retire(): Promise<{ readonly seen: AlarmMark; readonly handover: Handover | null }> {
		await this.#retirement.run(this.#lanes, () => this.#becomeQuiet());
		// What was never loaded was not seen: the alarm stays rung.
		const seen = { lastSeq: this.#seen ? this.#reader.lastSeq : -1, revision: this.#seen?.revision ?? -1 };
		return { seen, handover: this.#retirement.handover };
	}

	/** Lets go of memory and timers. Nothing is written any more. */
	end(): void {
		if (this.#over) return;
		this.#over = true;
		for (const lane of this.#lanes) this.#starter.forget(lane);
		this.#lanes.clear();
		this.#starter.end();
		this.#elsewhere.end();
		this.#lease.end();
		this.#reader.end();
		this.#open.becameQuiet();
	}

	// ── the loop ──

	#post(message: Message): void {
		this.#inbox.post(message);
	}

	#run(messages: readonly Message[]): void {
		let at = 0;
		try {
			while (at < messages.length) this.#receive(messages[at++]!);
			if (this.#over) return;
			this.#lanes.lookAtMarked((lane) => this.#starter.pump(lane));
			this.#starter.queued.readBodies();
		} catch (error) {
			this.#context.logger.error({ err: error, projectId: this.projectId }, "a project's actor failed");
			this.#lose("fault");
			for (const message of messages.slice(at)) this.#giveBack(message);
		}
		if (this.#open.count === 0 && this.#inbox.isEmpty) this.#open.becameQuiet();
	}

	#receive(message: Message): void {
		if (this.#over) {
			this.#giveBack(message);
			return;
		}
		switch (message.kind) {
			case "loaded":
				message.done();
				this.#loaded(message.loaded, message.only);
				break;
			case "appended":
				this.#appended(message.events);
				break;
			case "rewound":
				this.#lose("rewound");
				break;
			case "reaches":
				this.#lastActive = this.#context.clock.now();
				this.#reader.reaches(message.lastSeq);
				this.#lanes.mark(null);
				break;
			case "window":
				this.#lanes.windowRead(message.key, message.chunk);
				break;
			case "open":
				this.#starter.openRead(message);
				this.#lanes.mark(message.lane);
				break;
			case "queue":
				this.#lanes.queueRead(message);
				break;
			case "bodies":
				this.#starter.queued.bodiesRead(message.wanted, message.events);
				for (const { lane } of message.wanted) this.#lanes.mark(lane);
				break;
			case "ended":
				this.#ended(message);
				break;
			case "committed":
				this.#open.end();
				if (message.result === "settled") this.#committed(message);
				else this.#lose(message.result);
				break;
			case "position_committed":
				this.#open.end();
				if (message.result !== "settled") this.#lose(message.result);
				break;
			case "deletion_ended":
				this.#open.end();
				break;
			case "queues_changed":
				this.#lanes.invalidateRetries(message.webhookId);
				break;
			case "look":
				this.#lanes.mark(message.lane);
				break;
			case "released":
				if (this.#holds === 0) for (const lane of this.#starter.takeHalted()) this.#lanes.mark(lane);
				break;
			case "hand_over":
				this.#retirement.handOver();
				break;
			case "watch_elsewhere":
				this.#elsewhere.watch();
				break;
			case "freed":
				this.#starter.freed(message.slots, message.slot);
				break;
			case "rested":
				this.#starter.rested();
				this.#lanes.mark(null);
				break;
			case "sweep":
				this.#lanes.sweep();
				break;
			case "fault":
				throw message.error;
		}
	}

	#appended(events: readonly LogEvent[]): void {
		this.#lastActive = this.#context.clock.now();
		const doubtful = this.#reader.appended(events, this.#lanes.foremost);
		if (doubtful) this.#check.check(doubtful);
		this.#lanes.mark(null);
	}

	#ended(message: Extract<Message, { kind: "ended" }>): void {
		const { flight, outcome } = message;
		if (!this.#flights.delete(flight)) {
			this.#giveBack(message);
			return;
		}
		this.#lastActive = this.#context.clock.now();
		if (outcome.kind === "withheld" || outcome.kind === "deferred") this.#finisher.withheld(flight);
		else this.#finisher.ended(flight, outcome);
		if (outcome.kind === "deferred") this.#starter.rest(flight.lane, outcome.shortage);
		this.#lanes.mark(flight.lane);
	}

	#committed(message: Extract<Message, { kind: "committed" }>): void {
		const { flight, consequence } = message;
		this.#finisher.committed(message);
		this.#lastCommitted = consequence.attempt;
		this.#starter.committed(flight);
		if (flight.retry || consequence.schedule) this.#lanes.mark(flight.lane);
	}

	#loaded({ lanes, seen, handedOver }: LoadedLanes, only: string | null): void {
		// Once attempts are handed over, the lanes stay as they are: nothing may be written any more.
		if (this.#retirement.handover || (this.#seen && seen.revision < this.#seen.revision)) return;
		// All lanes were read meanwhile, this one among them.
		if (only !== null && this.#seen?.revision === seen.revision) return;
		const hasNews = seen.lastSeq > this.#reader.lastSeq;
		this.#seen = seen;
		this.#reader.reaches(seen.lastSeq);
		for (const lane of this.#lanes.load(lanes, only)) this.#drop(lane);
		if (only !== null && !hasNews) {
			const lane = this.#lanes.get(only);
			if (lane) this.#lanes.mark(lane);
			return;
		}
		this.#lanes.mark(null);
		if (only !== null) return;
		for (const lane of this.#lanes)
			lane.inFlightElsewhere(handedOver.filter(({ webhookId }) => webhookId === lane.webhookId));
		this.#elsewhere.loaded(handedOver);
	}

	/** What comes in when it concerns the actor no more only gives back what it holds. */
	#giveBack(message: Message): void {
		if (message.kind === "ended") {
			if (!this.#retirement.ended(message.flight, message.outcome)) message.flight.slot?.release();
		} else if (message.kind === "loaded") message.done();
		else if (message.kind === "freed") message.slot?.release();
		else if (message.kind === "bodies") for (const { slot } of message.wanted) slot.release();
	}

	#drop(lane: Lane): void {
		this.#starter.forget(lane);
		this.#lanes.drop(lane);
	}

	#readFailed(error: unknown, again: () => void): void {
		if (this.#over) {
			again();
			return;
		}
		const { logger, clock } = this.#context;
		logger.error({ err: error, projectId: this.projectId, retryInMs: READ_RETRY_MS }, "reading from storage failed");
		clock.setTimeout(again, READ_RETRY_MS);
	}

	#lose(why: LossReason): void {
		if (this.#over) return;
		this.end();
		this.#onLost(this, why);
	}

	#isIdle(): boolean {
		if (this.#seen === null || this.#open.count > 0 || !this.#inbox.isEmpty || this.#holds > 0) return false;
		return this.#elsewhere.attempts.length === 0 && this.#lanes.isIdle(this.#reader.lastSeq);
	}

	async #becomeQuiet(): Promise<void> {
		if (!this.#over && (this.#open.count > 0 || !this.#inbox.isEmpty)) await this.#open.whenQuiet();
	}

	#shared(lease: Lease): ProjectWork {
		const actor = this;
		return {
			projectId: lease.projectId,
			context: this.#context,
			reader: this.#reader,
			open: this.#open,
			flights: this.#flights,
			lease: { projectId: lease.projectId, generation: lease.generation },
			get mayStart() {
				return actor.inCharge && actor.#holds === 0 && !actor.#retirement.begun;
			},
			mayLeave: () => !this.#over && this.#retirement.handover === null && this.isTrusted,
			post: (message) => this.#post(message),
			readFailed: (error, again) => this.#readFailed(error, again),
		};
	}
}
