/**
 * Renews the leases of this node, all together and three times a term, and gives back what it need not work: projects
 * that have been idle for a while, with their alarms set to their next retries, and what is more than its part.
 */
import { PROJECTS } from "../../base/budgets.ts";
import { type Moment, momentOf, type Timer } from "../../base/clock.ts";
import type { Lease, Renewal } from "../../storage/port.ts";
import type { Actor } from "./actor.ts";
import { type ActorContext, isTrusted } from "./context.ts";
import type { Roster } from "./roster.ts";

/** An actor that had nothing to do for this long, and has nothing due for as long, is given back. */
const IDLE_MS = 60_000;
const RENEWALS_A_TERM = 3;
/** Leases whose rows stay held that a renewal waits for. */
const WAITS_A_RENEWAL = 4;
/** A node works this much more than its part before it gives some back, so that projects do not wander to and fro. */
const SHARE_SLACK = 1.25;

export interface LeaseKeeperOptions {
	readonly holder: string;
	readonly roster: Roster;
	/** How many projects are this node's part of all; null where no other node may share the database. */
	readonly fairShare: (() => Promise<number>) | null;
	/** A term was over before it was renewed: the project is not worked any more. */
	readonly onLapsed: (projectId: string) => void;
	/** A project is not on its way back any more, and has work next at `wakeAt`, or never by itself. */
	readonly onGivenBack: (projectId: string, wakeAt: number | null) => void;
}

type KeeperContext = Pick<ActorContext, "storage" | "clock" | "logger" | "leaseTermMs">;

export class LeaseKeeper {
	readonly #context: KeeperContext;
	readonly #options: LeaseKeeperOptions;
	readonly #roster: Roster;
	/** Actors that finish what is under way before their lease is given back. */
	readonly #givingBack = new Map<Actor, Promise<void>>();
	/** Attempts that this node settles for projects that it has released. */
	readonly #handovers = new Set<Promise<void>>();
	#sharing: Promise<void> | null = null;
	/** Projects whose lease somebody else held for longer than a renewal waits. */
	readonly #stuck = new Set<string>();
	#renewTimer: Timer | null = null;
	/** Long ago, as nothing was renewed yet. */
	#renewedAt: Moment = { now: Number.NEGATIVE_INFINITY, elapsed: Number.NEGATIVE_INFINITY };
	/** The renewal under way, or the last one. */
	#renewing: Promise<unknown> = Promise.resolve();

	constructor(context: KeeperContext, options: LeaseKeeperOptions) {
		this.#context = context;
		this.#options = options;
		this.#roster = options.roster;
	}

	start(): void {
		this.#renewAfter(this.#context.leaseTermMs / RENEWALS_A_TERM);
	}

	/** Renews everything now if it is not trusted any more. */
	async renewOverdue(): Promise<void> {
		await this.#renewing.catch(() => undefined);
		if (!isTrusted(this.#context, this.#renewedAt)) await this.renew();
	}

	/**
	 * Renews everything now. One renewal at a time: if an older one were written last, a term would end in storage while this node, by the newer
	 * one, still trusts it.
	 *
	 * @returns when storage was asked
	 */
	renew(): Promise<Moment> {
		const renewal = this.#renewing.catch(() => undefined).then(() => this.#renewNow());
		this.#renewing = renewal;
		return renewal;
	}

	/** Looks how many projects this node takes up by itself, with the nodes that there are now. */
	async renewShare(): Promise<void> {
		const { fairShare } = this.#options;
		// One that leaves has said so already: asking for its share would count it among the nodes again.
		if (!fairShare || this.#roster.closing) return;
		this.#roster.share = Math.min(this.#roster.limit, Math.ceil((await fairShare()) * SHARE_SLACK));
	}

	/**
	 * Makes room for projects that wait, by giving back others: idle ones first, the least recently active first; then those
	 * that have worked for their quantum, the longest first.
	 *
	 * @param count how many at most
	 */
	makeRoom(count: number): void {
		const { clock } = this.#context;
		const idle: { actor: Actor; since: number }[] = [];
		const worked: { actor: Actor; since: number }[] = [];
		for (const actor of this.#roster.actors.values()) {
			if (actor.retiring) continue;
			const since = actor.idleSince;
			if (since !== null) idle.push({ actor, since });
			else if (clock.elapsed() - actor.takenAt >= PROJECTS.quantumMs) worked.push({ actor, since: actor.takenAt });
		}
		const bySince = (a: { since: number }, b: { since: number }): number => a.since - b.since;
		const order = [...idle.sort(bySince), ...worked.sort(bySince)];
		for (const { actor } of order.slice(0, count)) this.#giveBack(actor);
	}

	/** Gives everything back once it is settled. To be called once the node is closing. */
	async stop(): Promise<void> {
		await this.#sharing;
		for (const actor of this.#roster.actors.values()) this.#giveBack(actor);
		await Promise.all(this.#givingBack.values());
		this.#renewTimer?.cancel();
		await Promise.all(this.#handovers);
	}

	// ── keeping ──

	#renewAfter(ms: number): void {
		this.#renewTimer = this.#context.clock.setTimeout(() => void this.#renewRegularly(), ms);
	}

	async #renewRegularly(): Promise<void> {
		const { logger } = this.#context;
		let soon = false;
		try {
			const asked = await this.renew();
			this.#giveBackIdle();
			// The answer came when the new term was over in part already: the machine slept, or storage was slow.
			soon = !isTrusted(this.#context, asked);
		} catch (error) {
			logger.error({ err: error }, "leases could not be renewed: storage is away");
		}
		if (!this.#roster.closing || this.#roster.actors.size > 0)
			this.#renewAfter(soon ? 0 : this.#context.leaseTermMs / RENEWALS_A_TERM);
		// Behind it: how long the next renewal may take to come does not hang on this.
		this.#sharing ??= this.#giveBackSurplus()
			.catch((error: unknown) => logger.error({ err: error }, "this node's share could not be asked for"))
			.finally(() => {
				this.#sharing = null;
			});
	}

	async #renewNow(): Promise<Moment> {
		const { holder } = this.#options;
		const asked = momentOf(this.#context.clock);
		const leases = [...this.#roster.actors.values()].map((actor) => actor.lease);
		if (leases.length === 0) {
			this.#renewedAt = asked;
			return asked;
		}
		const renewal = await this.#context.storage.renewLeases(holder, leases);
		this.#renewedAt = asked;
		this.#apply(leases, renewal, asked);
		if (renewal.locked.length > 0) this.#renewLocked(renewal.locked);
		return asked;
	}

	#apply(leases: readonly Lease[], { renewed, locked }: Renewal, asked: Moment): void {
		const held = new Map(renewed.map((lease) => [lease.projectId, lease]));
		const undecided = new Set(locked.map(({ projectId }) => projectId));
		for (const lease of leases) {
			const { projectId } = lease;
			const actor = this.#roster.actors.get(projectId);
			if (actor?.lease !== lease || undecided.has(projectId)) continue;
			this.#stuck.delete(projectId);
			const still = held.get(projectId);
			if (still) {
				actor.renewed(still, asked);
				continue;
			}
			this.#roster.drop(actor);
			this.#options.onLapsed(projectId);
		}
	}

	/**
	 * Somebody else held the rows of these leases: mostly a settle, for a moment. They are tried again together, then one
	 * after the other, each waiting a little. Those that are held for longer are left to the next renewal; a project whose
	 * lease is not trusted any more meanwhile starts nothing, and goes on once its lease is renewed.
	 */
	#renewLocked(leases: readonly Lease[]): void {
		// Before the next renewal, which must not be overtaken either.
		this.#renewing = this.#renewing
			.then(() => this.#renewLockedAll(leases))
			.catch((error: unknown) =>
				this.#context.logger.error({ err: error }, "leases could not be renewed: storage is away"),
			);
	}

	async #renewLockedAll(leases: readonly Lease[]): Promise<void> {
		const { storage, clock, logger } = this.#context;
		const { holder } = this.#options;
		const again = momentOf(clock);
		const together = await storage.renewLeases(holder, leases);
		this.#apply(leases, together, again);
		const isStuck = ({ projectId }: Lease) => Number(this.#stuck.has(projectId));
		let waits = WAITS_A_RENEWAL;
		for (const lease of together.locked.toSorted((a, b) => isStuck(a) - isStuck(b))) {
			if (waits === 0) break;
			const asked = momentOf(clock);
			const renewal = await storage.renewLeases(holder, [lease], { waits: true });
			this.#apply([lease], renewal, asked);
			if (renewal.locked.length === 0) continue;
			waits -= 1;
			const { projectId } = lease;
			if (!this.#stuck.has(projectId))
				logger.warn({ projectId }, "a transaction in the database holds this project's lease: it waits for that");
			this.#stuck.add(projectId);
		}
		for (const projectId of this.#stuck) if (!this.#roster.actors.has(projectId)) this.#stuck.delete(projectId);
	}

	// ── giving back ──

	#giveBackIdle(): void {
		const now = this.#context.clock.now();
		for (const actor of this.#roster.actors.values()) {
			const since = actor.idleSince;
			if (since === null || now - since < IDLE_MS) continue;
			const wakeAt = actor.wakeAt;
			if (wakeAt !== null && wakeAt - now < IDLE_MS) continue;
			this.#giveBack(actor);
		}
	}

	/** Work spreads over the nodes: what is more than this one's part goes to others, idle projects first. */
	async #giveBackSurplus(): Promise<void> {
		await this.renewShare();
		if (this.#roster.closing) return;
		const { actors } = this.#roster;
		const surplus = actors.size - this.#roster.share;
		if (surplus <= 0) return;
		const since = ({ idleSince }: Actor) => idleSince ?? Number.MAX_SAFE_INTEGER;
		const idleFirst = [...actors.values()].sort((a, b) => since(a) - since(b));
		for (const actor of idleFirst.slice(0, surplus)) this.#giveBack(actor);
	}

	#giveBack(actor: Actor): void {
		if (this.#givingBack.has(actor)) return;
		const back = this.#retire(actor).finally(() => this.#givingBack.delete(actor));
		this.#givingBack.set(actor, back);
	}

	async #retire(actor: Actor): Promise<void> {
		const { storage, logger } = this.#context;
		const { projectId } = actor;
		const { seen, handover } = await actor.retire();
		if (handover) this.#await(handover.over);
		if (!this.#roster.has(actor)) {
			handover?.released();
			return;
		}
		const wakeAt = actor.wakeAt;
		await this.#roster.leave(actor, async () => {
			try {
				await storage.releaseLease(actor.lease, wakeAt, seen, handover?.attempts);
			} catch (error) {
				logger.error({ err: error, projectId }, "a lease could not be given back: it ends with its term");
			}
			handover?.released();
		});
		this.#options.onGivenBack(projectId, wakeAt);
	}

	#await(over: Promise<void>): void {
		this.#handovers.add(over);
		void over.then(() => this.#handovers.delete(over));
	}
}
