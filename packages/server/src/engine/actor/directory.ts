/**
 * The projects that this node works, each an actor with a lease, and the way to them for everything that happens.
 *
 * A lease is a term in storage (see {@link Lease}). This node trusts one only until a margin before its end, counted
 * from before it asked, so that it stops starting attempts before anyone else may begin; what it settles later than that
 * is refused by generation. How leases are taken is said in lease-taker.ts, how they are kept and given back in
 * lease-keeper.ts; memory holds nothing of a project that was given back.
 */
import type { Moment } from "../../base/clock.ts";
import type { Lease, LogEvent } from "../../storage/port.ts";
import { Actor, type LossReason } from "./actor.ts";
import type { ActorContext } from "./context.ts";
import { EpochChange } from "./epoch-change.ts";
import type { LaneChange } from "./lane-loader.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { LeaseTaker } from "./lease-taker.ts";
import { Neighbours } from "./neighbours.ts";
import { Roster } from "./roster.ts";
import { Setbacks } from "./setbacks.ts";

/** A project's webhooks that could not be read are read again after this long. */
const RETRY_MS = 1_000;

export interface DirectoryOptions {
	readonly holder: string;
	/** Projects that it works at most. */
	readonly activeProjects?: number | undefined;
}

/** A node among others, at a moment. */
export interface NodeState {
	/** Another one each time that it starts. */
	readonly id: string;
	/** Projects that it works. */
	readonly projects: number;
	/** Projects that rest because their outcomes cannot be committed. */
	readonly refused: number;
	/** Null where no other node may share the database. */
	readonly sharing: {
		/** Projects that it takes up by itself at most. */
		readonly share: number;
		/** Nodes that lived when it last looked, itself included. */
		readonly nodes: number;
	} | null;
}

export class Directory {
	readonly #context: ActorContext;
	readonly #options: DirectoryOptions;
	readonly #roster: Roster;
	/** How many changes of a project are being stored. */
	readonly #holds = new Map<string, number>();
	readonly #setbacks: Setbacks;
	readonly #taker: LeaseTaker;
	readonly #keeper: LeaseKeeper;
	/** Null where this node has the database for itself. */
	readonly #neighbours: Neighbours | null;
	readonly #epochChange: EpochChange;
	#unsubscribe: (() => void) | null = null;

	constructor(context: ActorContext, options: DirectoryOptions) {
		this.#context = context;
		this.#options = options;
		const { holder } = options;
		this.#roster = new Roster(options.activeProjects);
		this.#setbacks = new Setbacks(context.clock, context.leaseTermMs);
		const roster = this.#roster;
		const { neighbours: storage } = context.storage;
		const neighbours = storage
			? new Neighbours(context, {
					storage,
					holder,
					actors: roster.actors,
					reload: (actor) => this.#reloadHeld(actor),
					takeUp: () => this.#taker.takeRung(),
				})
			: null;
		this.#neighbours = neighbours;
		this.#keeper = new LeaseKeeper(context, {
			holder,
			roster,
			fairShare: neighbours && (() => neighbours.fairShare()),
			onLapsed: (projectId) => this.#lapsed(projectId),
			onGivenBack: (projectId, wakeAt) => this.#taker.givenBack(projectId, wakeAt),
		});
		this.#taker = new LeaseTaker(context, {
			holder,
			roster,
			renewOverdue: () => this.#keeper.renewOverdue(),
			renew: () => this.#keeper.renew(),
			renewShare: () => this.#keeper.renewShare(),
			makeRoom: (count) => this.#keeper.makeRoom(count),
			onTaken: (lease, asked) => this.#begin(lease, asked),
		});
		this.#epochChange = new EpochChange(context, {
			holder,
			roster,
			reload: (actor) => this.#reloadHeld(actor),
			takeAgain: (projectIds) => this.#taker.takeAgain(projectIds),
		});
	}

	start(): void {
		const change = this.#epochChange;
		this.#unsubscribe = this.#context.storage.neighbours?.onEpoch(() => change.halt(), change) ?? null;
		this.#neighbours?.start();
		this.#keeper.start();
		this.#taker.takeRung();
	}

	/** What this node works, and how much of all is its part. */
	get state(): NodeState {
		const sharing = this.#neighbours && { share: this.#roster.share, nodes: this.#neighbours.nodes };
		const { size: projects } = this.#roster.actors;
		return { id: this.#options.holder, projects, refused: this.#setbacks.resting, sharing };
	}

	/** Hands newly published events to the project's actor, or takes the project up. */
	appended(projectId: string, events: readonly LogEvent[]): void {
		const actor = this.#roster.working(projectId);
		if (actor) actor.appended(events);
		else this.poke(projectId);
	}

	/** The project's retry queues were changed in storage, as a person asked. */
	queuesChanged(projectId: string, webhookId: string | null): void {
		const actor = this.#roster.working(projectId);
		if (actor) actor.queuesChanged(webhookId);
		else this.#taker.ask(projectId);
	}

	/** The project has work: take it up, if no one has. */
	poke(projectId: string): void {
		if (!this.#roster.working(projectId)) this.#taker.poke(projectId);
	}

	/** An attempt that this node had handed over is settled: if it works the project again, its lanes can continue. */
	handedOverSettled(projectId: string): void {
		const actor = this.#roster.working(projectId);
		if (actor) void this.#reloadHeld(actor);
	}

	/** Paused lanes of these projects should look for events whose retention has ended. */
	sweep(projectIds: readonly string[]): void {
		for (const projectId of projectIds) {
			const actor = this.#roster.working(projectId);
			if (actor) actor.sweep();
			else this.poke(projectId);
		}
	}

	/**
	 * Runs a change of the project's webhooks while its lanes stand still, then has them read what is stored.
	 *
	 * @param changedWebhook names the webhook that was changed, if that is all that was; else null
	 */
	async change<T>(
		projectId: string,
		change: () => Promise<T>,
		changedWebhook: (result: T) => string | null = () => null,
	): Promise<T> {
		this.#holds.set(projectId, (this.#holds.get(projectId) ?? 0) + 1);
		const held = this.#roster.actors.get(projectId);
		held?.hold();
		const before = held?.mark ?? null;
		let laneChange: LaneChange | null = null;
		try {
			const changed = await change();
			const webhookId = changedWebhook(changed);
			if (webhookId !== null && before) laneChange = { webhookId, since: before.revision };
			await this.#neighbours?.untilInForce(projectId);
			return changed;
		} finally {
			await this.#reload(projectId, laneChange);
			const left = this.#holds.get(projectId)! - 1;
			if (left > 0) this.#holds.set(projectId, left);
			else this.#holds.delete(projectId);
			// An actor that came up meanwhile was born with all the holds that stood then.
			this.#roster.actors.get(projectId)?.release();
			this.poke(projectId);
		}
	}

	/** Finishes what is under way, settles it, and gives every lease back. */
	async stop(): Promise<void> {
		this.#roster.closing = true;
		this.#taker.sleep();
		await this.#neighbours?.stop();
		await this.#taker.whenDone();
		await this.#keeper.stop();
		this.#unsubscribe?.();
	}

	/** Others changed the project: goes by what is stored, with its lanes held meanwhile. */
	async #reloadHeld(actor: Actor): Promise<void> {
		actor.hold();
		await this.#reload(actor.projectId);
		actor.queuesChanged(null);
		actor.release();
	}

	async #reload(projectId: string, change: LaneChange | null = null): Promise<void> {
		const actor = this.#roster.actors.get(projectId);
		if (actor) await this.#loaded(actor, change);
	}

	#begin(lease: Lease, asked: Moment): void {
		const actor = new Actor(this.#context, lease, asked, (lost, why) => this.#lost(lost, why));
		for (let holds = this.#holds.get(lease.projectId) ?? 0; holds > 0; holds--) actor.hold();
		this.#rest(actor);
		this.#roster.add(actor);
		void this.#bringUp(actor);
	}

	/** One that was refused keeps its lease, so that no other node takes it, and stands still until its rest is over. */
	#rest(actor: Actor): void {
		const restMs = this.#setbacks.restOf(actor.projectId);
		if (restMs === 0) return;
		actor.hold();
		this.#context.clock.setTimeout(() => actor.release(), restMs);
	}

	async #bringUp(actor: Actor): Promise<void> {
		await this.#loaded(actor);
		try {
			await this.#neighbours?.acknowledge([actor]);
		} catch (error) {
			// It is made up for at the next look at the neighbours.
			this.#context.logger.warn({ err: error, projectId: actor.projectId }, "other nodes could not be told of a load");
		}
	}

	/**
	 * Has the actor go by what is stored. A read that fails is made again, with the lanes as they are (held, or not there
	 * yet), for as long as the actor works the project; after a term it is given up, and the project is taken up anew.
	 */
	async #loaded(actor: Actor, change: LaneChange | null = null): Promise<void> {
		const { clock, leaseTermMs, logger } = this.#context;
		const { projectId } = actor;
		const giveUpAt = clock.elapsed() + leaseTermMs;
		while (this.#roster.has(actor)) {
			try {
				await actor.load(change);
				return;
			} catch (error) {
				logger.error({ err: error, projectId, retryInMs: RETRY_MS }, "a project's webhooks could not be read");
				if (this.#roster.closing || clock.elapsed() >= giveUpAt) break;
				await new Promise<void>((resolve) => clock.setTimeout(resolve, RETRY_MS));
			}
		}
		if (!this.#roster.has(actor)) return;
		this.#roster.drop(actor);
		this.#taker.takeLapsed();
	}

	/** If no one else has taken the project, it is taken anew. */
	#lapsed(projectId: string): void {
		this.#context.onLost("expired");
		this.#taker.poke(projectId);
	}

	/**
	 * Its lease is left to run out. A project whose outcomes are refused rests for longer each time. One whose log went
	 * back is taken up again immediately: only what was known of it was wrong.
	 */
	#lost(actor: Actor, why: LossReason): void {
		this.#context.onLost(why);
		const { logger } = this.#context;
		const { projectId } = actor;
		if (why === "refused" || why === "fault") {
			const restMs = this.#setbacks.note(projectId);
			logger.error(
				{ projectId, why, restMs },
				"a project sends nothing for a while: its outcomes could not be committed",
			);
		} else logger.warn({ projectId, why }, "a project was let go of");
		if (why === "rewound") {
			void this.#retake(actor);
			return;
		}
		this.#roster.drop(actor);
		this.#taker.takeLapsed();
	}

	/** Releases the actor's lease and takes the project again, to read it from storage. */
	async #retake(actor: Actor): Promise<void> {
		const { storage, clock, logger } = this.#context;
		const { projectId, lease } = actor;
		await this.#roster.leave(actor, async () => {
			try {
				await storage.releaseLease(lease, clock.now(), { lastSeq: -1, revision: -1 });
			} catch (error) {
				logger.error({ err: error, projectId }, "a lease could not be released: it ends with its term");
			}
		});
		this.#taker.poke(projectId);
	}
}
