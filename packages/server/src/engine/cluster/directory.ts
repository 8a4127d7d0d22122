/**
 * The projects that this node owns, each an actor with a lease, and the routing of events to them.
 *
 * A lease has an end time in storage (see {@link Lease}). This node trusts a lease only until a margin before that end,
 * measured from before it requested the lease, so that it stops starting attempts before another node may begin. Once
 * another node has the lease, storage rejects this node's settlements by generation. lease-taker.ts describes how leases
 * are taken, lease-keeper.ts how they are renewed and released. Memory holds nothing of a released project.
 */
import { type Moment, sleep } from "../../base/clock.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import {
	type Claim,
	type EpochKeeper,
	isStorageError,
	type Lease,
	type LogEvent,
	StorageError,
} from "../../storage/port.ts";
import { Actor } from "../actor/actor.ts";
import type { LaneChange } from "../actor/applied-lanes.ts";
import type { ActorContext, LossReason, Message } from "../actor/context.ts";
import type { ChangeScope } from "../engine.ts";
import { FailureBackoff } from "./failure-backoff.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { LeaseTaker } from "./lease-taker.ts";
import { MarkPoller } from "./mark-poller.ts";
import { Peers } from "./peers.ts";
import { OwnedProjects } from "./projects.ts";

/** Delay before a failed read of a project's webhooks is retried. */
const RETRY_MS = 1_000;

/** A snapshot of this node and its share of the cluster. */
export interface NodeState {
	/** New at each start. */
	readonly id: string;
	readonly projects: number;
	/** Projects that are resting because their outcomes can't be committed. */
	readonly refused: number;
	/** Null where the database can't be shared with other nodes. */
	readonly sharing: {
		/** Maximum number of projects that it takes on its own initiative. */
		readonly share: number;
		/** Nodes alive at the last check, including this one. */
		readonly nodes: number;
	} | null;
}

export class Directory implements EpochKeeper {
	readonly #context: ActorContext;
	readonly #owned: OwnedProjects;
	/** Number of webhook changes being stored, by project. */
	readonly #holds = new Map<string, number>();
	readonly #failures: FailureBackoff;
	/** Shared by all projects: in an outage, thousands of them fail every second. */
	readonly #loadFailure: RepeatedFailure;
	readonly #taker: LeaseTaker;
	readonly #keeper: LeaseKeeper;
	/** Both are null where this node has the database to itself. */
	readonly #peers: Peers | null;
	readonly marks: MarkPoller | null;
	/** Rises when a new epoch of the database is found. What storage did before may be lost. */
	#epoch = 0;
	/** Actors halted for a new epoch, and whether their lease was trusted then. */
	readonly #halted = new Map<Actor, boolean>();
	#unsubscribe: (() => void) | null = null;

	/** @param activeProjects the maximum number of projects that this node owns */
	constructor(context: ActorContext, activeProjects?: number) {
		this.#context = context;
		const { clock, logger } = context;
		this.#owned = new OwnedProjects(activeProjects);
		this.#failures = new FailureBackoff(clock, context.leaseTermMs);
		this.#loadFailure = new RepeatedFailure(
			{ logger, clock },
			{
				failed: "failed to read a project's webhooks",
				over: "projects' webhooks are read again",
				isFailure: isStorageError,
			},
		);
		const owned = this.#owned;
		const { peers: storage } = context.storage;
		const peers = storage && new Peers(context, { storage, actors: owned.actors, reload: this.#reloadHeld });
		this.#peers = peers;
		this.marks = storage && new MarkPoller({ storage, clock, logger, onUnowned: this.#takeUnowned });
		if (peers) this.marks?.watch(peers);
		this.#keeper = new LeaseKeeper(context, {
			owned,
			report: peers && (() => peers.report()),
			onNextDue: (at) => this.#taker.expect(at),
			onLate: peers && ((actors) => void this.#catchUp(peers, actors)),
			onLapsed: this.#lapsed,
			onReleaseFailed: () => this.#taker.takeLapsed(),
			onReleased: (projectId, wakeAt) => this.#taker.released(projectId, wakeAt),
		});
		this.#taker = new LeaseTaker(context, {
			owned,
			keeper: this.#keeper,
			nextEnd: peers && (() => peers.nextEnd()),
			onTaken: this.#begin,
		});
	}

	start(): void {
		this.#unsubscribe = this.#context.storage.peers?.onEpoch(() => this.#halt(), this) ?? null;
		this.marks?.start();
		this.#keeper.start();
		this.#taker.takeDue();
	}

	get state(): NodeState {
		const sharing = this.#peers && { share: this.#owned.share, nodes: this.#peers.nodes };
		const { size: projects } = this.#owned.actors;
		return { id: this.#context.holder, projects, refused: this.#failures.resting, sharing };
	}

	appended(projectId: string, events: readonly LogEvent[]): void {
		this.#context.observer.published?.(projectId, events);
		this.#tell(projectId, { kind: "appended", events });
	}

	/** An append may have been committed although its call failed. */
	recheck(projectId: string): void {
		this.#tell(projectId, { kind: "recheck" });
	}

	/** A user's request changed the project's stored retry queues. */
	queuesChanged(projectId: string, webhookId: string | null): void {
		const actor = this.#owned.working(projectId);
		if (actor) actor.post({ kind: "queues_changed", webhookId });
		else this.#taker.pokeRequested(projectId);
	}

	/** An attempt that this node handed over is settled. If it owns the project again, the lanes can continue. */
	handedOverSettled(projectId: string): void {
		const actor = this.#owned.working(projectId);
		if (actor) void this.#reloadHeld(actor);
	}

	/** Makes paused lanes of these projects check for events past their retention. */
	sweep(projectIds: readonly string[]): void {
		for (const projectId of projectIds) this.#tell(projectId, { kind: "sweep" });
	}

	/** Posts the message to the project's actor. Without one, takes the project: its new actor reads storage. */
	#tell(projectId: string, message: Message): void {
		const actor = this.#owned.working(projectId);
		if (actor) actor.post(message);
		else this.#taker.poke(projectId);
	}

	/** See {@link Engine.change}. Reloads everything if `change` rejects; rejects if a failover may have lost the change. */
	async change<T>(projectId: string, change: () => Promise<T>, scopeOf: (result: T) => ChangeScope): Promise<T> {
		const epoch = this.#epoch;
		const result = await this.#changeHeld(projectId, change, scopeOf);
		if (this.#epoch !== epoch)
			throw new StorageError("lost", "The database resumed from another state, which may lack this change.");
		return result;
	}

	async #changeHeld<T>(projectId: string, change: () => Promise<T>, scopeOf: (result: T) => ChangeScope): Promise<T> {
		this.#hold(projectId);
		const before = this.#owned.actors.get(projectId)?.mark ?? null;
		let scope: ChangeScope = "project";
		try {
			const result = await change();
			scope = scopeOf(result);
			if (scope !== "nothing") await this.#peers?.untilInForce(projectId);
			return result;
		} finally {
			const only = typeof scope === "object" && before ? { ...scope, since: before.revision } : null;
			if (scope !== "nothing") await this.#reload(projectId, only);
			this.#release(projectId);
			if (!this.#owned.working(projectId)) this.#taker.poke(projectId);
		}
	}

	/** Holds the project's lanes, including those of actors that begin meanwhile. */
	#hold(projectId: string): void {
		this.#holds.set(projectId, (this.#holds.get(projectId) ?? 0) + 1);
		this.#owned.actors.get(projectId)?.hold();
	}

	#release(projectId: string): void {
		const left = this.#holds.get(projectId)! - 1;
		if (left > 0) this.#holds.set(projectId, left);
		else this.#holds.delete(projectId);
		this.#owned.actors.get(projectId)?.release();
	}

	/** Finishes and settles everything in flight, then releases every lease. */
	async stop(): Promise<void> {
		this.#owned.closing = true;
		this.#taker.sleep();
		await this.marks?.stop();
		// A report that arrived later than this announcement would count the node again.
		await this.#taker.whenDone();
		await this.#keeper.whenReported();
		await this.#peers?.leave();
		await this.#keeper.stop();
		this.#unsubscribe?.();
	}

	/** These projects have work and may have no holder. Nodes that own nothing of a busy project leave storage alone. */
	readonly #takeUnowned = (projectIds: readonly string[]): void => {
		if (projectIds.some((projectId) => !this.#owned.actors.has(projectId))) this.#taker.takeDue();
	};

	/** Another node changed the project: reloads it from storage while its lanes are held. */
	readonly #reloadHeld = async (actor: Actor): Promise<void> => {
		actor.hold();
		await this.#reload(actor.projectId);
		actor.post({ kind: "queues_changed", webhookId: null });
		actor.release();
	};

	/** Releases these actors, which are held, once they apply what others changed. */
	async #catchUp(peers: Peers, actors: readonly Actor[]): Promise<void> {
		await peers.catchUp(actors);
		for (const actor of actors) actor.release();
	}

	async #reload(projectId: string, change: LaneChange | null = null): Promise<void> {
		const actor = this.#owned.actors.get(projectId);
		if (actor) await this.#loaded(actor, change);
	}

	readonly #begin = (lease: Lease, since: Moment): void => {
		const actor = new Actor(this.#context, lease, since, this.#lost);
		for (let holds = this.#holds.get(lease.projectId) ?? 0; holds > 0; holds--) actor.hold();
		this.#rest(actor);
		this.#owned.add(actor);
		void this.#bringUp(actor);
	};

	/** Holds a project that is resting. It keeps its lease, so that no other node takes it. */
	#rest(actor: Actor): void {
		const restMs = this.#failures.restOf(actor.projectId);
		if (restMs === 0) return;
		actor.hold();
		this.#context.clock.setTimeout(() => actor.release(), restMs);
	}

	async #bringUp(actor: Actor): Promise<void> {
		await this.#loaded(actor);
		try {
			await this.#peers?.acknowledge([actor]);
		} catch (error) {
			// The next check for remote changes acknowledges it.
			this.#context.logger.warn(
				{ err: error, projectId: actor.projectId },
				"failed to acknowledge a project's revision to other nodes",
			);
		}
	}

	/**
	 * Makes the actor apply what is stored. A failed read is retried for as long as the actor owns the project, with its
	 * lanes unchanged (held, or not loaded yet). After one lease duration the actor is dropped and the project is taken
	 * again.
	 */
	async #loaded(actor: Actor, change: LaneChange | null = null): Promise<void> {
		const { clock, leaseTermMs } = this.#context;
		const { projectId } = actor;
		const giveUpAt = clock.elapsed() + leaseTermMs;
		while (this.#owned.has(actor)) {
			try {
				await actor.load(change);
				this.#loadFailure.succeeded();
				return;
			} catch (error) {
				const details = { projectId, retryInMs: RETRY_MS };
				this.#loadFailure.failed(error, details);
				if (this.#owned.closing || clock.elapsed() >= giveUpAt) break;
				await sleep(clock, RETRY_MS);
			}
		}
		if (!this.#owned.has(actor)) return;
		this.#owned.drop(actor);
		this.#taker.takeLapsed();
	}

	/** Takes the project again, unless another node has it. */
	readonly #lapsed = (projectId: string): void => {
		this.#context.observer.lost?.("expired");
		this.#taker.poke(projectId);
	};

	/**
	 * Leaves the lease to expire. A project whose outcomes are rejected rests longer each time. A project whose log was
	 * rewound is taken again immediately, because only this node's view of it was wrong.
	 */
	readonly #lost = (actor: Actor, why: LossReason): void => {
		this.#context.observer.lost?.(why);
		const { logger } = this.#context;
		const { projectId } = actor;
		if (why === "refused" || why === "fault") {
			const restMs = this.#failures.failed(projectId);
			logger.error(
				{ projectId, why, restMs },
				why === "fault"
					? "a project is paused for a while: an error stopped it"
					: "a project is paused for a while: its outcomes could not be committed",
			);
		} else logger.warn({ projectId, why }, "stopped running a project: its lease was lost");
		if (why === "rewound") {
			void this.#retake(actor);
			return;
		}
		this.#owned.drop(actor);
		this.#taker.takeLapsed();
	};

	/** Releases the actor's lease and takes the project again, so that it is read from storage. */
	async #retake(actor: Actor): Promise<void> {
		const wakeAt = this.#context.clock.now();
		await this.#keeper.releaseLease(actor, { wakeAt, seen: { lastSeq: -1, revision: -1 } });
		this.#taker.poke(actor.projectId);
	}

	// ── a new epoch of the database, whose state may be an earlier one ──

	/**
	 * No actor starts anything until the node has joined the epoch. Actors whose state the database hasn't lost continue:
	 * their outcomes are settled as after any broken connection. The others end, and their projects are read again.
	 */
	#halt(): void {
		this.#epoch += 1;
		for (const actor of this.#owned.actors.values()) {
			if (this.#halted.has(actor)) continue;
			this.#halted.set(actor, actor.lease.isTrusted);
			actor.hold();
		}
	}

	claims(): Claim[] {
		return [...this.#owned.actors.values()].flatMap((actor) => (this.#halted.has(actor) && actor.claim()) || []);
	}

	begun(kept: readonly Lease[], opensInMs: number): void {
		const { actors } = this.#owned;
		const { logger, observer } = this.#context;
		const leases = new Map(kept.map((lease) => [lease.projectId, lease]));
		const ended = [...actors.values()].filter((actor) => !leases.has(actor.projectId));
		for (const actor of ended) {
			this.#owned.drop(actor);
			observer.lost?.("epoch");
		}
		logger.warn(
			{ kept: actors.size, projects: ended.length },
			"the database resumed from another state: projects that may have lost data are read again",
		);
		for (const actor of actors.values()) {
			actor.lease.continueAs(leases.get(actor.projectId)!, opensInMs);
			void this.#reloadHeld(actor).then(() => actor.release());
		}
		// No other node can have held them meanwhile.
		this.#taker.takeAgain(ended.filter((actor) => this.#halted.get(actor)).map(({ projectId }) => projectId));
		this.#halted.clear();
	}
}
