/**
 * The projects that this node works, each an actor with a lease.
 *
 * A lease is a term in storage (see {@link Lease}). This node trusts one only until a margin before its end, counted
 * from before it asked, so that it stops starting attempts before anyone else may begin; what it settles later than that
 * is refused by generation. Leases are renewed together, three times a term. A project that has been idle for a while is
 * given back with its alarm set to its next retry, and memory holds nothing of it.
 *
 * Work is found in two ways: a publish or replay on this node pokes its project at once; and the node asks storage for
 * projects whose alarm has rung (at start, when an alarm is due, and, where other nodes share the database, regularly).
 */
import { LONGEST_WAIT_MS, type Timer } from "../../base/clock.ts";
import type { Lease, LogEvent } from "../../storage/port.ts";
import { Actor, type LossReason } from "./actor.ts";
import type { ActorContext } from "./context.ts";
import { Neighbours } from "./neighbours.ts";

/** Actors on a node at most; beyond, rung projects wait until idle ones were given back. */
const MAX_ACTORS = 10_000;
/** Leases taken in one step. */
const ACQUIRE_AT_ONCE = 200;
/** An actor that had nothing to do for this long, and has nothing due for as long, is given back. */
const IDLE_MS = 60_000;
/** Where other nodes publish too, rung alarms are looked for this often. */
const POLL_MS = 1_000;
/** Leases are renewed this many times a term … */
const RENEWALS_A_TERM = 3;
/** … and trusted for this part of it. */
const TRUSTED_PART = 0.8;
/** A node works this much more than its part before it gives some back, so that projects do not wander to and fro. */
const SHARE_SLACK = 1.25;
/** After storage failed, it is asked again after this long. */
const RETRY_MS = 1_000;

export interface DirectoryOptions {
	readonly holder: string;
	readonly leaseTermMs: number;
}

/** A node among others, at a moment. */
export interface NodeState {
	/** Another one each time that it starts. */
	readonly id: string;
	/** Projects that it works. */
	readonly projects: number;
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
	readonly #actors = new Map<string, Actor>();
	readonly #holds = new Map<string, number>();
	readonly #poked = new Set<string>();
	/** Projects that other nodes were found to work, and until when they are not asked for again. */
	readonly #elsewhere = new Map<string, number>();
	/** As many projects as this node takes up by itself. */
	#share = MAX_ACTORS;
	/** Projects whose lease is on its way back. */
	readonly #leaving = new Set<string>();
	/** Actors that finish what is under way before their lease is given back. */
	readonly #givingBack = new Map<Actor, Promise<void>>();
	/** Null where this node has the database for itself. */
	readonly #neighbours: Neighbours | null;
	#acquiring: Promise<void> | null = null;
	#sharing: Promise<void> | null = null;
	#lookForRung = false;
	#pollTimer: Timer | null = null;
	#pollDue = Number.POSITIVE_INFINITY;
	#renewTimer: Timer | null = null;
	#renewedAt = 0;
	#stopped = false;

	constructor(context: ActorContext, options: DirectoryOptions) {
		this.#context = context;
		this.#options = options;
		const { neighbours } = context.storage;
		this.#neighbours = neighbours
			? new Neighbours(context, {
					storage: neighbours,
					leaseTermMs: options.leaseTermMs,
					holder: options.holder,
					actors: this.#actors,
					reload: (actor) => this.#reloadHeld(actor),
					takeUp: () => this.#acquire(true),
				})
			: null;
	}

	start(): void {
		this.#neighbours?.start();
		this.#renewAfter(this.#options.leaseTermMs / RENEWALS_A_TERM);
		this.#acquire(true);
	}

	/** What this node works, and how much of all is its part. */
	get state(): NodeState {
		const sharing = this.#neighbours && { share: this.#share, nodes: this.#neighbours.nodes };
		return { id: this.#options.holder, projects: this.#actors.size, sharing };
	}

	/** Hands newly published events to the project's actor, or takes the project up. */
	appended(projectId: string, events: readonly LogEvent[]): void {
		const actor = this.#working(projectId);
		if (actor) actor.appended(events);
		else this.poke(projectId);
	}

	/** The project's retry queues were changed in storage. */
	queuesChanged(projectId: string, webhookId: string | null): void {
		const actor = this.#working(projectId);
		if (actor) actor.queuesChanged(webhookId);
		else this.poke(projectId);
	}

	/** The project has work: take it up, if no one has. */
	poke(projectId: string): void {
		if (this.#stopped || this.#working(projectId)) return;
		if ((this.#elsewhere.get(projectId) ?? 0) > this.#context.clock.now()) return;
		this.#poked.add(projectId);
		this.#acquire(false);
	}

	/** Paused lanes of these projects should look for events whose retention has ended. */
	sweep(projectIds: readonly string[]): void {
		for (const projectId of projectIds) {
			const actor = this.#working(projectId);
			if (actor) actor.sweep();
			else this.poke(projectId);
		}
	}

	/** Runs a change of the project's webhooks while its lanes stand still, then has them read what is stored. */
	async change<T>(projectId: string, change: () => Promise<T>): Promise<T> {
		this.#holds.set(projectId, (this.#holds.get(projectId) ?? 0) + 1);
		const held = this.#actors.get(projectId);
		held?.hold();
		try {
			const changed = await change();
			await this.#neighbours?.untilInForce(projectId);
			return changed;
		} finally {
			await this.#reload(projectId);
			const left = this.#holds.get(projectId)! - 1;
			if (left > 0) this.#holds.set(projectId, left);
			else this.#holds.delete(projectId);
			// An actor that came up meanwhile was born with all the holds that stood then.
			this.#actors.get(projectId)?.release();
			this.poke(projectId);
		}
	}

	/** Finishes what is under way, settles it, and gives every lease back. */
	async stop(): Promise<void> {
		this.#stopped = true;
		this.#pollTimer?.cancel();
		await this.#neighbours?.stop();
		await this.#acquiring;
		await this.#sharing;
		for (const actor of this.#actors.values()) this.#giveBack(actor);
		await Promise.all(this.#givingBack.values());
		this.#renewTimer?.cancel();
	}

	/** The project's actor, unless it is giving the project back. */
	#working(projectId: string): Actor | undefined {
		const actor = this.#actors.get(projectId);
		return actor?.retiring ? undefined : actor;
	}

	/** Other nodes changed the project: goes by what is stored, with its lanes held meanwhile. */
	async #reloadHeld(actor: Actor): Promise<void> {
		actor.hold();
		await this.#reload(actor.projectId);
		actor.queuesChanged(null);
		actor.release();
	}

	async #reload(projectId: string): Promise<void> {
		const actor = this.#actors.get(projectId);
		if (actor) await this.#loaded(actor);
	}

	/**
	 * Has the actor go by what is stored. A read that fails is made again, with the lanes as they are (held, or not there
	 * yet), for as long as the actor works the project; after a term it is given up, and the project is taken up anew.
	 */
	async #loaded(actor: Actor): Promise<void> {
		const { clock, logger } = this.#context;
		const { projectId } = actor;
		const giveUpAt = clock.now() + this.#options.leaseTermMs;
		while (this.#actors.get(projectId) === actor) {
			try {
				await actor.load();
				return;
			} catch (error) {
				logger.error({ err: error, projectId, retryInMs: RETRY_MS }, "a project's webhooks could not be read");
				if (this.#stopped || clock.now() >= giveUpAt) break;
				await new Promise<void>((resolve) => clock.setTimeout(resolve, RETRY_MS));
			}
		}
		if (this.#actors.get(projectId) !== actor) return;
		this.#drop(actor);
		this.#pollBy(clock.now() + this.#options.leaseTermMs);
	}

	// ── taking leases ──

	/** Takes leases of poked projects and, when `rung`, of those whose alarm has rung. One step at a time. */
	#acquire(rung: boolean): void {
		if (this.#stopped) return;
		this.#lookForRung ||= rung;
		this.#acquiring ??= this.#acquireAll()
			.catch((error: unknown) => {
				this.#context.logger.error(
					{ err: error, retryInMs: RETRY_MS },
					"projects could not be taken up: storage is away",
				);
				this.#pollAt(this.#context.clock.now() + RETRY_MS);
			})
			.finally(() => {
				this.#acquiring = null;
				if (this.#hasPoked() || this.#lookForRung) this.#acquire(false);
			});
	}

	async #acquireAll(): Promise<void> {
		for (let wanted = this.#nextPoked(); wanted.length > 0; wanted = this.#nextPoked()) {
			const taken = await this.#take(MAX_ACTORS, wanted);
			if (this.#neighbours) this.#noteElsewhere(wanted.filter((projectId) => !taken.has(projectId)));
		}
		if (this.#lookForRung) {
			this.#lookForRung = false;
			// What this node holds is renewed before it could be found as a lease that ran out.
			const now = this.#context.clock.now();
			if (now >= this.#trustedUntil(this.#renewedAt)) await this.#renewAll(now);
			while ((await this.#take(this.#share)).size === ACQUIRE_AT_ONCE && !this.#stopped);
		}
		await this.#setPoll();
	}

	/** Poked projects that can be taken now, off the list: a poke that comes while they are being taken is put on anew. */
	#nextPoked(): string[] {
		const next: string[] = [];
		for (const projectId of this.#poked) {
			if (next.length === ACQUIRE_AT_ONCE) break;
			if (this.#actors.has(projectId) || this.#leaving.has(projectId)) continue;
			this.#poked.delete(projectId);
			next.push(projectId);
		}
		return next;
	}

	/** Whoever works them hears of their news by itself. */
	#noteElsewhere(projectIds: readonly string[]): void {
		const now = this.#context.clock.now();
		for (const [projectId, until] of this.#elsewhere) if (until <= now) this.#elsewhere.delete(projectId);
		for (const projectId of projectIds) this.#elsewhere.set(projectId, now + POLL_MS);
	}

	/** Takes these, or those that have rung, as long as this node works no more than `most`. */
	async #take(most: number, projectIds?: readonly string[]): Promise<ReadonlySet<string>> {
		const { storage, clock } = this.#context;
		const room = Math.min(ACQUIRE_AT_ONCE, most - this.#actors.size);
		if (room <= 0) return new Set();
		const asked = clock.now();
		const leases = await storage.acquireLeases(this.#options.holder, room, projectIds);
		for (const lease of leases) this.#begin(lease, asked);
		return new Set(leases.map(({ projectId }) => projectId));
	}

	#begin(lease: Lease, asked: number): void {
		const former = this.#actors.get(lease.projectId);
		if (former) this.#drop(former);
		const actor = new Actor(this.#context, lease, this.#trustedUntil(asked), (lost, why) => this.#lost(lost, why));
		for (let holds = this.#holds.get(lease.projectId) ?? 0; holds > 0; holds--) actor.hold();
		this.#actors.set(lease.projectId, actor);
		void this.#bringUp(actor);
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

	#trustedUntil(asked: number): number {
		return asked + this.#options.leaseTermMs * TRUSTED_PART;
	}

	#hasPoked(): boolean {
		for (const projectId of this.#poked) {
			if (!this.#actors.has(projectId) && !this.#leaving.has(projectId)) return true;
		}
		return false;
	}

	/** Looks for rung alarms again when the next one is due. What is rung and was not taken (no room) waits a while. */
	async #setPoll(): Promise<void> {
		const { storage, clock } = this.#context;
		const next = await storage.nextAlarm();
		const now = clock.now();
		const longest = storage.capabilities.manyNodes ? POLL_MS : LONGEST_WAIT_MS;
		const due = next ?? Number.POSITIVE_INFINITY;
		this.#pollAt(Math.min(due > now ? due : now + POLL_MS, now + longest));
	}

	/** Looks for rung alarms at `at` at the latest. */
	#pollBy(at: number): void {
		if (at < this.#pollDue) this.#pollAt(at);
	}

	#pollAt(at: number): void {
		if (this.#stopped) return;
		this.#pollTimer?.cancel();
		this.#pollDue = at;
		this.#pollTimer = this.#context.clock.setTimeout(() => this.#acquire(true), at - this.#context.clock.now());
	}

	// ── keeping and giving back ──

	#renewAfter(ms: number): void {
		this.#renewTimer = this.#context.clock.setTimeout(() => void this.#renew(), ms);
	}

	async #renew(): Promise<void> {
		const { clock, logger } = this.#context;
		const asked = clock.now();
		let soon = false;
		try {
			await this.#renewAll(asked);
			this.#giveBackIdle();
			// The answer came when the new term was over in part already: the machine slept, or storage was slow.
			soon = clock.now() >= this.#trustedUntil(asked);
		} catch (error) {
			logger.error({ err: error }, "leases could not be renewed: storage is away");
		}
		if (!this.#stopped || this.#actors.size > 0)
			this.#renewAfter(soon ? 0 : this.#options.leaseTermMs / RENEWALS_A_TERM);
		// Behind it: how long the next renewal may take to come does not hang on this.
		this.#sharing ??= this.#giveBackSurplus()
			.catch((error: unknown) => logger.error({ err: error }, "this node's share could not be asked for"))
			.finally(() => {
				this.#sharing = null;
			});
	}

	async #renewAll(asked: number): Promise<void> {
		const leases = [...this.#actors.values()].map((actor) => actor.lease);
		if (leases.length === 0) {
			this.#renewedAt = asked;
			return;
		}
		const renewed = await this.#context.storage.renewLeases(this.#options.holder, leases);
		this.#renewedAt = asked;
		const held = new Map(renewed.map((lease) => [lease.projectId, lease]));
		for (const lease of leases) {
			const actor = this.#actors.get(lease.projectId);
			if (actor?.lease !== lease) continue;
			const still = held.get(lease.projectId);
			if (still) actor.renewed(still, this.#trustedUntil(asked));
			else this.#lapsed(actor);
		}
	}

	/** The term was over before it was renewed. If no one else has taken the project, it is taken anew. */
	#lapsed(actor: Actor): void {
		this.#context.onLost("expired");
		this.#drop(actor);
		this.poke(actor.projectId);
	}

	#giveBackIdle(): void {
		const now = this.#context.clock.now();
		for (const actor of this.#actors.values()) {
			const since = actor.idleSince;
			if (since === null || now - since < IDLE_MS) continue;
			const wakeAt = actor.wakeAt;
			if (wakeAt !== null && wakeAt - now < IDLE_MS) continue;
			this.#giveBack(actor);
		}
	}

	/** Work spreads over the nodes: what is more than this one's part goes to others, idle projects first. */
	async #giveBackSurplus(): Promise<void> {
		if (!this.#neighbours) return;
		const fair = await this.#neighbours.fairShare();
		if (this.#stopped) return;
		this.#share = Math.min(MAX_ACTORS, Math.ceil(fair * SHARE_SLACK));
		const surplus = this.#actors.size - this.#share;
		if (surplus <= 0) return;
		const since = ({ idleSince }: Actor) => idleSince ?? Number.MAX_SAFE_INTEGER;
		const idleFirst = [...this.#actors.values()].sort((a, b) => since(a) - since(b));
		for (const actor of idleFirst.slice(0, surplus)) this.#giveBack(actor);
	}

	#giveBack(actor: Actor): void {
		if (this.#givingBack.has(actor)) return;
		const back = this.#retire(actor).finally(() => this.#givingBack.delete(actor));
		this.#givingBack.set(actor, back);
	}

	async #retire(actor: Actor): Promise<void> {
		const { projectId } = actor;
		const seen = await actor.retire();
		if (!seen || this.#actors.get(projectId) !== actor) return;
		const wakeAt = actor.wakeAt;
		this.#drop(actor);
		this.#leaving.add(projectId);
		try {
			await this.#context.storage.releaseLease(actor.lease, wakeAt, seen);
		} catch (error) {
			this.#context.logger.error({ err: error, projectId }, "a lease could not be given back: it ends with its term");
		}
		this.#leaving.delete(projectId);
		if (this.#hasPoked()) this.#acquire(false);
		else if (wakeAt !== null) this.#pollBy(wakeAt);
	}

	#drop(actor: Actor): void {
		this.#actors.delete(actor.projectId);
		actor.end();
	}

	/** Its lease is left to run out, so that a project whose outcomes are refused is not taken up again at once. */
	#lost(actor: Actor, why: LossReason): void {
		if (this.#actors.get(actor.projectId) === actor) this.#actors.delete(actor.projectId);
		this.#context.onLost(why);
		this.#context.logger.warn({ projectId: actor.projectId, why }, "a project was let go of");
		this.#pollBy(this.#context.clock.now() + this.#options.leaseTermMs);
	}
}
