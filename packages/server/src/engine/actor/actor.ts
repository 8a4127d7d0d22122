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

import type { Moment } from "../../base/clock.ts";
import { Bag } from "../../base/collections.ts";
import type { AlarmMark, Claim, Lease } from "../../storage/port.ts";
import { LogReader } from "../lanes/log-reader.ts";
import type { LaneChange } from "./applied-lanes.ts";
import { type ActorContext, type LossReason, type Message, OpenWork, type ProjectWork } from "./context.ts";
import type { Handover } from "./handover.ts";
import { HeldLease } from "./lease.ts";
import { type Inbox, Loop } from "./loop.ts";

/** Delay before a failed read is retried. */
const READ_RETRY_MS = 500;

export class Actor {
	readonly projectId: string;
	/** Monotonic time at which this node took the project. */
	readonly takenAt: number;
	readonly #context: ActorContext;
	readonly #onLost: (actor: Actor, why: LossReason) => void;
	readonly #lease: HeldLease;
	readonly #reader: LogReader;
	readonly #open = new OpenWork();
	readonly #work: ProjectWork;
	readonly #loop: Loop;
	#holds = 0;
	#over = false;

	/** @param onLost called when the actor ends on its own: its lease is gone, or its outcomes are rejected */
	constructor(context: ActorContext, lease: Lease, since: Moment, onLost: (actor: Actor, why: LossReason) => void) {
		this.projectId = lease.projectId;
		this.#context = context;
		this.#onLost = onLost;
		this.#lease = new HeldLease(context, lease, since);
		this.takenAt = context.clock.elapsed();
		const { storage, budget } = context;
		this.#reader = new LogReader({
			storage,
			projectId: lease.projectId,
			budget,
			deliver: (key, chunk, error) => {
				if (error) this.#readFailed(error, () => this.inbox.post({ kind: "window", key, chunk: null }));
				else this.inbox.post({ kind: "window", key, chunk });
			},
		});
		this.#work = this.#shared(lease);
		this.#loop = new Loop(this.#work, {
			isOver: () => this.#over,
			isHeld: () => this.#holds > 0,
			lose: this.#lose,
		});
	}

	/** Where everything from outside arrives, as messages. */
	get inbox(): Inbox<Message> {
		return this.#loop.inbox;
	}

	get lease(): Lease {
		return this.#lease.current;
	}

	/** Whether its lanes are loaded and no other node may run the project now. */
	get inCharge(): boolean {
		return this.#loop.applied.mark !== null && this.isTrusted;
	}

	/** Whether no other node may run the project now. */
	get isTrusted(): boolean {
		return this.#lease.isTrusted;
	}

	/** Whether another node may still use a lease that the database has lost. Until then it settles, but sends nothing. */
	get isSuspended(): boolean {
		return this.#lease.isSuspended;
	}

	// ── from outside ──

	/** Loads the lanes from storage and applies them. @param change set if nothing else has changed */
	load(change: LaneChange | null = null): Promise<void> {
		return this.#loop.applied.load(change);
	}

	/** The lease was renewed. */
	renewed(lease: Lease, since: Moment): void {
		if (this.#lease.renewed(lease, since)) this.inbox.post({ kind: "look", lane: null });
	}

	/** Stops lanes from starting anything until {@link release} has been called as often as this. */
	hold(): void {
		this.#holds += 1;
	}

	release(): void {
		this.#holds -= 1;
		this.inbox.post({ kind: "released" });
	}

	/** What this actor knows, for a database that may have lost some of it; null if the two can't be compared. */
	claim(holder: string): Claim | null {
		if (this.#loop.retirement.handover !== null) return null;
		return this.#loop.applied.claim(this.lease, holder, this.#loop.attempts.lastCommitted);
	}

	/**
	 * The database is in a new epoch and still has everything that this actor claimed. From now on the actor uses this
	 * lease, and settles uncommitted outcomes under it. Unless its lease is trusted, it sends nothing for `waitMs`.
	 */
	continueAs(lease: Lease, waitMs: number): void {
		this.#work.lease.generation = lease.generation;
		this.#lease.continueAs(lease, waitMs, () => this.inbox.post({ kind: "look", lane: null }));
	}

	/** The revision its lanes apply and the end of the log it knows; null until it has loaded. */
	get mark(): AlarmMark | null {
		return this.#loop.applied.mark;
	}

	/** When it last had work, milliseconds since the epoch; null while it has some. */
	get idleSince(): number | null {
		return this.#isIdle() ? this.#loop.lastActive : null;
	}

	/** When the project next has work if no message arrives: now, at a time, or null for never. */
	get wakeAt(): number | null {
		let wakeAt = this.#loop.lanes.wakeAt();
		for (const { until } of [...this.#loop.applied.remote.attempts, ...this.#loop.retirement.attempts])
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
		await this.#loop.retirement.run(this.#loop.lanes, () => this.#becomeQuiet());
		// A project that was never loaded hasn't been seen: its alarm stays due.
		return { seen: this.mark ?? { lastSeq: -1, revision: -1 }, handover: this.#loop.retirement.handover };
	}

	/** Frees memory and timers. Nothing is written after this. */
	end(): void {
		if (this.#over) return;
		this.#over = true;
		this.#loop.end();
		this.#lease.end();
		this.#reader.end();
		this.#open.becameQuiet();
	}

	readonly #readFailed = (error: unknown, again: () => void): void => {
		if (this.#over) {
			again();
			return;
		}
		const { logger, clock } = this.#context;
		logger.error({ err: error, projectId: this.projectId, retryInMs: READ_RETRY_MS }, "failed to read from storage");
		clock.setTimeout(again, READ_RETRY_MS);
	};

	readonly #lose = (why: LossReason): void => {
		if (this.#over) return;
		this.end();
		this.#onLost(this, why);
	};

	#isIdle(): boolean {
		if (this.mark === null || this.#open.count > 0 || !this.inbox.isEmpty || this.#holds > 0) return false;
		if (this.#loop.applied.remote.attempts.length > 0 || this.#loop.lanes.hasMarked) return false;
		return this.#loop.lanes.isIdle();
	}

	async #becomeQuiet(): Promise<void> {
		if (!this.#over && (this.#open.count > 0 || !this.inbox.isEmpty)) await this.#open.whenQuiet();
	}

	#shared(lease: Lease): ProjectWork {
		const actor = this;
		return {
			projectId: lease.projectId,
			context: this.#context,
			reader: this.#reader,
			open: this.#open,
			inFlight: new Bag(),
			lease: { projectId: lease.projectId, generation: lease.generation },
			get mayStart() {
				return actor.inCharge && actor.#holds === 0 && !actor.#loop.retirement.begun;
			},
			mayLeave: () => !this.#over && this.#loop.retirement.handover === null && this.isTrusted,
			post: (message) => this.inbox.post(message),
			readFailed: this.#readFailed,
		};
	}
}
