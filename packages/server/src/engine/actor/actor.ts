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
import { type SigningKey, signingKey } from "@posthorn/protocol";
import type { Moment, Timer } from "../../base/clock.ts";
import type { Claim } from "../../storage/port/neighbours.ts";
import type { AlarmMark, HandedOver, LaneState, Lease, LogEvent } from "../../storage/port.ts";
import { Lane } from "../lanes/lane.ts";
import { LogReader } from "../lanes/log-reader.ts";
import type { SettleResult } from "../settle/settler.ts";
import { type ActorContext, isTrusted } from "./context.ts";
import { Finisher } from "./finisher.ts";
import type { Flight } from "./flight.ts";
import { Handover } from "./handover.ts";
import type { Message } from "./messages.ts";
import { OpenWork, type ProjectWork } from "./project-work.ts";
import { Starter } from "./starter.ts";

/** A project that changes nodes waits this long for its attempts in flight; those that take longer are handed over. */
const HANDOVER_WAIT_MS = 500;
/** Attempts in flight elsewhere are looked at again no sooner than this. */
const ELSEWHERE_MS = 250;
/** After a read failed, it is tried again after this long. */
const READ_RETRY_MS = 500;

/** For lanes that send nothing. */
const NO_KEY = signingKey(new Uint8Array(32));

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
	readonly #inbox: Message[] = [];
	#scheduled = false;
	#lease: Lease;
	/** When the lease was asked for, or renewed. */
	#asked: Moment;
	/** Until then another node may go on by a lease that the database has lost, by the monotonic clock. */
	#opensAt = 0;
	#opening: Timer | null = null;
	#lastCommitted: Claim["attempt"] = null;
	readonly #lanes = new Map<string, Lane>();
	readonly #dirty = new Set<Lane>();
	readonly #reader: LogReader;
	readonly #open = new OpenWork();
	readonly #work: ProjectWork;
	readonly #starter: Starter;
	readonly #finisher: Finisher;
	/** What the lanes that were loaded last include. */
	#seen: AlarmMark | null = null;
	#holds = 0;
	#doubting = false;
	/** Attempts that are in flight at former holders. */
	#elsewhere: readonly HandedOver[] = [];
	#elsewhereTimer: Timer | null = null;
	readonly #flights = new Set<Flight>();
	/** What this actor hands over. */
	#handover: Handover | null = null;
	#retiring = false;
	#over = false;
	#lastActive: number;
	#loading: (() => void)[] = [];

	/** @param onLost called when it ended by itself: its lease is gone, or its outcomes are refused */
	constructor(context: ActorContext, lease: Lease, asked: Moment, onLost: (actor: Actor, why: LossReason) => void) {
		this.projectId = lease.projectId;
		this.#context = context;
		this.#onLost = onLost;
		this.#lease = lease;
		this.#asked = asked;
		this.takenAt = context.clock.elapsed();
		this.#lastActive = context.clock.now();
		this.#reader = new LogReader(context.storage, lease.projectId, 0, context.budget, (key, chunk, error) => {
			if (error) this.#readFailed(error, () => this.#post({ kind: "window", key, chunk: null }));
			else this.#post({ kind: "window", key, chunk });
		});
		const work = this.#shared(lease);
		this.#work = work;
		this.#finisher = new Finisher(work);
		this.#starter = new Starter(
			work,
			(lane) => this.#finisher.commitPosition(lane),
			(lane) => this.#endDeletion(lane),
		);
	}

	get lease(): Lease {
		return this.#lease;
	}

	get retiring(): boolean {
		return this.#retiring;
	}

	/** Whether it works by what it has loaded, and nobody else may work the project now. */
	get inCharge(): boolean {
		return this.#seen !== null && this.isTrusted;
	}

	/** Whether nobody else may work the project now. */
	get isTrusted(): boolean {
		return !this.isSuspended && isTrusted(this.#context, this.#asked);
	}

	/** Whether it waits until no other node can go on by a lease that the database has lost. It settles, and sends nothing. */
	get isSuspended(): boolean {
		return this.#context.clock.elapsed() < this.#opensAt;
	}

	// ── from outside ──

	/** Reads the lanes from storage and makes them so. Resolves when the loop has done it. */
	async load(): Promise<void> {
		const { lanes, seen, handedOver } = await this.#context.storage.loadLanes(this.projectId);
		if (this.#over) return;
		await new Promise<void>((resolve) => {
			this.#loading.push(resolve);
			this.#post({ kind: "loaded", lanes, seen, handedOver });
		});
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
		const lapsed = !this.isTrusted;
		this.#lease = lease;
		this.#asked = asked;
		if (lapsed) this.#post({ kind: "look", lane: null });
	}

	/** Lanes stand still from now on, until {@link release} was called as often. */
	hold(): void {
		this.#holds += 1;
	}

	release(): void {
		this.#holds -= 1;
		this.#post({ kind: "look", lane: null });
	}

	/** What it knows, for a database that may have lost some of it; null if that cannot be compared. */
	claim(holder: string): Claim | null {
		if (this.#seen === null || this.#handover !== null) return null;
		const { lastSeq, lastKnown: event } = this.#reader;
		for (const lane of this.#lanes.values())
			if (lane.position > Math.max(lane.state.position, event?.seq ?? 0)) return null;
		const { revision } = this.#seen;
		return { lease: this.#lease, holder, revision, lastSeq, event, attempt: this.#lastCommitted };
	}

	/**
	 * The database goes on in another epoch, and holds all that this actor has claimed: what it does from now on, and what it
	 * did and has not committed, goes by this lease. Unless its lease is trusted, it sends nothing for this long.
	 */
	continueAs(lease: Lease, waitMs: number): void {
		this.#lease = lease;
		this.#work.lease.generation = lease.generation;
		if (this.isTrusted) return;
		const { clock } = this.#context;
		this.#opensAt = clock.elapsed() + waitMs;
		this.#opening?.cancel();
		this.#opening = clock.setTimeout(() => this.#post({ kind: "look", lane: null }), waitMs);
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
		let wakeAt: number | null = null;
		for (const lane of this.#lanes.values()) {
			if (!lane.active && !lane.deleted) continue;
			const isDue = lane.deleted || lane.isBehind(this.#reader.lastSeq);
			const due = isDue ? this.#context.clock.now() : lane.nextDueAt;
			if (due !== null) wakeAt = Math.max(0, Math.min(wakeAt ?? due, due));
		}
		for (const { until } of [...this.#elsewhere, ...(this.#handover?.attempts ?? [])])
			wakeAt = Math.min(wakeAt ?? until, until);
		return wakeAt;
	}

	/**
	 * Starts nothing more, waits until what is in flight is committed, and commits where the lanes stand. Attempts that take
	 * longer are handed over, if their requests were written; nothing else is written any more.
	 *
	 * @returns what to release the lease with, or null when it is over
	 */
	async retire(): Promise<{ readonly seen: AlarmMark; readonly handover: Handover | null } | null> {
		this.#retiring = true;
		const timer = this.#context.clock.setTimeout(() => this.#post({ kind: "hand_over" }), HANDOVER_WAIT_MS);
		await this.#becomeQuiet();
		timer.cancel();
		for (const lane of this.#lanes.values()) if (lane.lag > 0) this.#finisher.commitPosition(lane);
		await this.#becomeQuiet();
		if (this.#over) return null;
		// What was never loaded was not seen: the alarm stays rung.
		const seen = { lastSeq: this.#seen ? this.#reader.lastSeq : -1, revision: this.#seen?.revision ?? -1 };
		return { seen, handover: this.#handover };
	}

	/** Lets go of memory and timers. Nothing is written any more. */
	end(): void {
		if (this.#over) return;
		this.#over = true;
		for (const lane of this.#lanes.values()) {
			lane.end();
			this.#starter.forget(lane);
		}
		this.#starter.end();
		this.#elsewhereTimer?.cancel();
		this.#opening?.cancel();
		this.#context.budget.countLanes(-this.#lanes.size);
		this.#lanes.clear();
		this.#reader.clear();
		this.#open.becameQuiet();
		for (const resolve of this.#loading.splice(0)) resolve();
	}

	// ── the loop ──

	#post(message: Message): void {
		this.#inbox.push(message);
		if (this.#scheduled) return;
		this.#scheduled = true;
		queueMicrotask(() => this.#run());
	}

	#run(): void {
		this.#scheduled = false;
		const messages = this.#inbox.splice(0);
		let at = 0;
		try {
			while (at < messages.length) this.#receive(messages[at++]!);
			if (this.#over) return;
			for (const lane of this.#dirty) this.#starter.pump(lane);
			this.#dirty.clear();
			this.#starter.readBodies();
		} catch (error) {
			this.#context.logger.error({ err: error, projectId: this.projectId }, "a project's actor failed");
			this.#lose("fault");
			for (const message of messages.slice(at)) this.#giveBack(message);
		}
		if (this.#open.count === 0 && this.#inbox.length === 0) this.#open.becameQuiet();
	}

	#receive(message: Message): void {
		if (this.#over) {
			this.#giveBack(message);
			return;
		}
		switch (message.kind) {
			case "loaded":
				this.#loaded(message.lanes, message.seen, message.handedOver);
				for (const resolve of this.#loading.splice(0)) resolve();
				break;
			case "appended":
				this.#lastActive = this.#context.clock.now();
				this.#doubt(this.#reader.appended(message.events, this.#foremost()));
				this.#mark(null);
				break;
			case "rewound":
				this.#lose("rewound");
				break;
			case "reaches":
				this.#lastActive = this.#context.clock.now();
				this.#reader.reaches(message.lastSeq);
				this.#mark(null);
				break;
			case "window":
				for (const lane of this.#lanes.values()) if (lane.windowRead(message.key, message.chunk)) this.#dirty.add(lane);
				break;
			case "open":
				this.#starter.openRead(message);
				this.#mark(message.lane);
				break;
			case "queue": {
				const { lane, name, rows, limit } = message;
				if (rows) lane.queue(name).endLoad(rows, limit, (retry) => lane.isUnderWay(retry));
				else lane.queue(name).abandonLoad();
				this.#mark(lane);
				break;
			}
			case "bodies":
				this.#starter.startQueued(message.wanted, message.events);
				for (const { lane } of message.wanted) this.#mark(lane);
				break;
			case "ended":
				if (!this.#flights.delete(message.flight)) {
					this.#giveBack(message);
					break;
				}
				this.#lastActive = this.#context.clock.now();
				if (message.outcome.kind === "withheld") this.#finisher.withheld(message.flight);
				else if (message.outcome.kind === "deferred") {
					this.#finisher.withheld(message.flight);
					this.#starter.rest(message.flight.lane, message.outcome.shortage);
				} else this.#finisher.ended(message.flight, message.outcome);
				this.#mark(message.flight.lane);
				break;
			case "committed":
				this.#open.end();
				if (message.result !== "settled") {
					this.#lose(message.result);
					break;
				}
				this.#finisher.committed(message);
				this.#lastCommitted = message.consequence.attempt;
				this.#starter.committed(message.flight);
				if (message.flight.retry || message.consequence.schedule) this.#mark(message.flight.lane);
				break;
			case "position_committed":
				this.#open.end();
				if (message.result !== "settled") this.#lose(message.result);
				break;
			case "deletion_ended":
				this.#open.end();
				break;
			case "queues_changed":
				for (const lane of this.#lanes.values()) {
					if (message.webhookId !== null && lane.webhookId !== message.webhookId) continue;
					lane.invalidateRetries();
					this.#mark(lane);
				}
				break;
			case "look":
				this.#mark(message.lane);
				break;
			case "hand_over":
				this.#handOver();
				break;
			case "watch_elsewhere":
				this.#watchElsewhere();
				break;
			case "freed":
				this.#starter.freed(message.slots, message.slot);
				break;
			case "rested":
				this.#starter.rested();
				this.#mark(null);
				break;
			case "sweep":
				for (const lane of this.#lanes.values()) {
					lane.sweeping = true;
					lane.sweepingQueues = true;
				}
				this.#mark(null);
				break;
			case "fault":
				throw message.error;
		}
	}

	#loaded(states: readonly LaneState[], seen: AlarmMark, handedOver: readonly HandedOver[]): void {
		// Once attempts are handed over, the lanes stay as they are: nothing may be written any more.
		if (this.#handover || (this.#seen && seen.revision < this.#seen.revision)) return;
		const { budget, eventTypes } = this.#context;
		this.#seen = seen;
		this.#reader.reaches(seen.lastSeq);
		const missing = new Map(this.#lanes);
		for (const state of states) {
			missing.delete(state.webhookId);
			const known = this.#lanes.get(state.webhookId);
			const key = this.#keyOf(state, known);
			if (known) {
				known.reload(state, key, eventTypes);
			} else {
				this.#lanes.set(state.webhookId, new Lane(this.projectId, state, key, eventTypes));
				budget.countLanes(1);
			}
		}
		for (const lane of missing.values()) this.#drop(lane);
		for (const lane of this.#lanes.values())
			lane.inFlightElsewhere(handedOver.filter(({ webhookId }) => webhookId === lane.webhookId));
		this.#elsewhere = handedOver;
		this.#watchElsewhere();
		this.#mark(null);
	}

	/** Attempts of former holders that are not settled in time are forgotten, and made again. */
	#watchElsewhere(): void {
		this.#elsewhereTimer?.cancel();
		this.#elsewhereTimer = null;
		if (this.#elsewhere.length === 0) return;
		const { clock, storage } = this.#context;
		const until = Math.min(...this.#elsewhere.map((attempt) => attempt.until));
		this.#elsewhereTimer = clock.setTimeout(
			async () => {
				try {
					await storage.forgetHandedOver(this.projectId);
					await this.load();
				} catch (error) {
					this.#readFailed(error, () => this.#post({ kind: "watch_elsewhere" }));
				}
			},
			Math.max(ELSEWHERE_MS, until - clock.now()),
		);
	}

	/** What was not written is put back and will not be; what was written is settled after the lease was released. */
	#handOver(): void {
		if (this.#flights.size === 0) return;
		const written = [...this.#flights].filter((flight) => flight.written);
		for (const flight of this.#flights) {
			if (flight.written) this.#open.end();
			else this.#finisher.putBack(flight);
		}
		this.#flights.clear();
		this.#handover = new Handover(this.#context, this.#work.lease, written);
	}

	/** What comes in when it concerns the actor no more only gives back what it holds. */
	#giveBack(message: Message): void {
		if (message.kind === "ended") {
			if (!this.#handover?.ended(message.flight, message.outcome)) message.flight.slot?.release();
		} else if (message.kind === "freed") message.slot?.release();
		else if (message.kind === "bodies") for (const { slot } of message.wanted) slot.release();
	}

	#drop(lane: Lane): void {
		lane.end();
		this.#starter.forget(lane);
		this.#dirty.delete(lane);
		this.#lanes.delete(lane.webhookId);
		this.#context.budget.countLanes(-1);
	}

	/** Nothing is pending any more for a deleted webhook. If storage fails to note it, whoever loads the lanes next does. */
	#endDeletion(lane: Lane): void {
		const { storage, logger } = this.#context;
		this.#drop(lane);
		this.#open.begin();
		storage
			.endDeletion(this.projectId, lane.webhookId)
			.catch((error) => logger.warn({ err: error, webhookId: lane.webhookId }, "ending a webhook's deletion failed"))
			.then(() => this.#post({ kind: "deletion_ended" }));
	}

	/** The webhook's signing key, unsealed anew only when it changed. */
	#keyOf(state: LaneState, lane: Lane | undefined): SigningKey {
		if (state.status === "deleted") return lane?.target.key ?? NO_KEY;
		if (lane && Buffer.compare(lane.state.sealedDigest, state.sealedDigest) === 0) return lane.target.key;
		return signingKey(this.#context.seal.open(state.sealedDigest, state.webhookId));
	}

	/** This lane (each, if null) should be looked at when the messages are done. */
	#mark(lane: Lane | null): void {
		if (lane) this.#dirty.add(lane);
		else for (const each of this.#lanes.values()) this.#dirty.add(each);
	}

	/** The place of the lane that is furthest on; infinitely far behind when none is active. */
	#foremost(): number {
		let foremost = Number.NEGATIVE_INFINITY;
		for (const lane of this.#lanes.values()) if (lane.active && lane.position > foremost) foremost = lane.position;
		return foremost;
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

	/** Reads whether the log still holds an event under the number that it was appended with. */
	#doubt(event: LogEvent | null): void {
		if (event === null || this.#doubting) return;
		this.#doubting = true;
		const { storage } = this.#context;
		storage
			.readEvents(this.projectId, [event.seq])
			.then(([stored]) => {
				if (stored?.id !== event.id) this.rewound();
			})
			// A log that went back is also found when neighbours are read, and when something is settled.
			.catch(() => undefined)
			.finally(() => {
				this.#doubting = false;
			});
	}

	#lose(why: LossReason): void {
		if (this.#over) return;
		this.end();
		this.#onLost(this, why);
	}

	#isIdle(): boolean {
		if (this.#seen === null || this.#open.count > 0 || this.#inbox.length > 0 || this.#holds > 0) return false;
		if (this.#elsewhere.length > 0) return false;
		for (const lane of this.#lanes.values()) {
			if (lane.awaits !== null || lane.sweeping || (lane.sweepingQueues && !lane.active)) return false;
			if (lane.active && lane.isBehind(this.#reader.lastSeq)) return false;
		}
		return true;
	}

	async #becomeQuiet(): Promise<void> {
		if (!this.#over && (this.#open.count > 0 || this.#inbox.length > 0)) await this.#open.whenQuiet();
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
				return actor.inCharge && actor.#holds === 0 && !actor.#retiring;
			},
			mayLeave: () => !this.#over && this.#handover === null && this.isTrusted,
			post: (message) => this.#post(message),
			readFailed: (error, again) => this.#readFailed(error, again),
		};
	}
}
