/**
 * Renews this node's leases, all together and three times per lease duration, and releases projects that it needn't
 * own: those that have been idle for a while, with their alarms set to their next retries, and those beyond its share.
 * After a renewal, the node reports that it is alive, and learns when storage next has work.
 */
import { PROJECTS } from "../../base/budgets.ts";
import { type Moment, momentOf, type Timer } from "../../base/clock.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import { FairQueue } from "../../base/turns.ts";
import type { Lease, Params, Renewal } from "../../storage/port.ts";
import type { Actor } from "../actor/actor.ts";
import type { ActorContext } from "../actor/context.ts";
import { isTrusted } from "../actor/lease.ts";
import type { Report } from "./peers.ts";
import type { OwnedProjects } from "./projects.ts";

/** An actor is released if it has been idle for this long and has nothing due for as long. */
const IDLE_MS = 60_000;
const RENEWALS_PER_LEASE = 3;
/** How many leases with locked rows a renewal waits for. */
const WAITS_PER_RENEWAL = 4;
/** How long to wait before looking again for projects that can make room: if none is left, and if some are, milliseconds. */
const LOOK_MIN_MS = 50;
export const LOOK_MAX_MS = 1_000;
/** How far a node may exceed its share before it releases projects, so that they don't move back and forth. */
const SHARE_SLACK = 1.25;

export interface LeaseKeeperOptions {
	readonly owned: OwnedProjects;
	/** Reports that this node is alive; null where the database can't be shared with other nodes. */
	readonly report: (() => Promise<Report>) | null;
	/** Called after each regular report with the time at which storage next has work; null if it has none to come. */
	readonly onNextDue: (at: number | null) => void;
	/**
	 * The leases of these actors were renewed so late that they may have ended before that. Others didn't wait for these
	 * actors meanwhile, so they are held: release each once it has caught up. Null where no other node makes changes.
	 */
	readonly onLate: ((actors: readonly Actor[]) => void) | null;
	/** A lease expired before its renewal: this node no longer owns the project. */
	readonly onLapsed: (projectId: string) => void;
	/** A lease was not released: until it has expired, no node can take the project. */
	readonly onReleaseFailed: () => void;
	/** A project's release has finished or failed; it next has work at `wakeAt`, or only when something arrives if null. */
	readonly onReleased: (projectId: string, wakeAt: number | null) => void;
}

type KeeperContext = Pick<ActorContext, "storage" | "clock" | "logger" | "holder" | "leaseTermMs">;

export class LeaseKeeper {
	readonly #context: KeeperContext;
	readonly #options: LeaseKeeperOptions;
	readonly #owned: OwnedProjects;
	/** Actors that finish their work in flight before their lease is released. */
	readonly #releasing = new Map<Actor, Promise<void>>();
	/** Calls that release leases. If all were made at once, they would wait for a connection longer than a call may. */
	readonly #releases = new FairQueue({ perOwner: 1, running: PROJECTS.releases, waiting: Number.POSITIVE_INFINITY });
	/** Attempts that this node settles for projects that it has already released. */
	readonly #handovers = new Set<Promise<void>>();
	readonly #renewFailure: RepeatedFailure;
	readonly #reportFailure: RepeatedFailure;
	#sharing: Promise<void> | null = null;
	/** Whether this node skipped its last turn to report. */
	#isSilent = true;
	/** Projects whose lease's row was locked for longer than a renewal waits. */
	readonly #stuck = new Set<string>();
	/** Projects that could make room at the last look; the next one to release comes last. */
	#dispensable: string[] = [];
	#lookedAt = Number.NEGATIVE_INFINITY;
	#renewTimer: Timer | null = null;
	/** Long ago, since nothing has been renewed yet. */
	#renewedAt: Moment = { now: Number.NEGATIVE_INFINITY, elapsed: Number.NEGATIVE_INFINITY };
	/** The current renewal, or the last one. */
	#renewing: Promise<unknown> = Promise.resolve();

	constructor(context: KeeperContext, options: LeaseKeeperOptions) {
		this.#context = context;
		this.#options = options;
		this.#owned = options.owned;
		this.#renewFailure = new RepeatedFailure(context, {
			failed: "failed to renew leases: storage is unavailable",
			over: "leases are renewed again",
		});
		this.#reportFailure = new RepeatedFailure(context, {
			failed: "failed to report to other nodes that this one is alive",
			over: "this node reports to others again that it is alive",
		});
	}

	start(): void {
		this.#renewAfter(this.#context.leaseTermMs / RENEWALS_PER_LEASE);
		this.#reportInTurn();
	}

	/** Renews everything now if the last renewal is too old to be trusted. */
	async renewOverdue(): Promise<void> {
		// A renewal that waits for locked rows concerns only their projects.
		if (isTrusted(this.#context, this.#renewedAt)) return;
		await this.#renewing.catch(() => undefined);
		if (!isTrusted(this.#context, this.#renewedAt)) await this.renew();
	}

	/**
	 * Renews everything now. Renewals run one at a time: if an older one were written last, a lease would expire in
	 * storage while this node still trusts it because of the newer one.
	 *
	 * @returns when storage was asked
	 */
	renew(): Promise<Moment> {
		const renewal = this.#renewing.catch(() => undefined).then(() => this.#renewNow());
		this.#renewing = renewal;
		return renewal;
	}

	/**
	 * Recalculates from the current number of nodes how many projects this node takes on its own initiative.
	 *
	 * @returns the report; null if this node has none to make
	 */
	async renewShare(): Promise<Report | null> {
		// A node that is leaving has announced that. Asking for its share would count it among the nodes again.
		if (!this.#options.report || this.#owned.closing) return null;
		const report = await this.#options.report();
		// At least one: a node without a share would ask for it at each poll for due projects.
		const share = Math.max(1, Math.ceil(report.fairShare * SHARE_SLACK));
		this.#owned.share = Math.min(this.#owned.limit, share);
		return report;
	}

	/**
	 * Releases up to `count` projects to make room for waiting ones: first idle projects, the least recently active first;
	 * then those that have run for their quantum, longest first.
	 */
	makeRoom(count: number): void {
		const now = this.#context.clock.elapsed();
		if (now - this.#lookedAt >= (this.#dispensable.length === 0 ? LOOK_MIN_MS : LOOK_MAX_MS)) {
			this.#lookedAt = now;
			this.#dispensable = this.#findDispensable();
		}
		for (let left = count; left > 0; ) {
			const projectId = this.#dispensable.pop();
			if (projectId === undefined) return;
			const actor = this.#owned.working(projectId);
			// It may have ended, or have work again.
			if (!actor || (actor.idleSince === null && !this.#hasHadQuantum(actor))) continue;
			this.#release(actor);
			left -= 1;
		}
	}

	/** Takes milliseconds with thousands of projects, so not on each release, which asks for room again. */
	#findDispensable(): string[] {
		const idle: { actor: Actor; since: number }[] = [];
		const worked: { actor: Actor; since: number }[] = [];
		for (const actor of this.#owned.actors.values()) {
			if (!this.#owned.working(actor.projectId)) continue;
			const since = actor.idleSince;
			if (since !== null) idle.push({ actor, since });
			else if (this.#hasHadQuantum(actor)) worked.push({ actor, since: actor.takenAt });
		}
		const latestFirst = (a: { since: number }, b: { since: number }): number => b.since - a.since;
		return [...worked.sort(latestFirst), ...idle.sort(latestFirst)].map(({ actor }) => actor.projectId);
	}

	#hasHadQuantum({ takenAt }: Actor): boolean {
		return this.#context.clock.elapsed() - takenAt >= PROJECTS.quantumMs;
	}

	/** Resolves once no report is in progress. A node that is closing begins no other. */
	async whenReported(): Promise<void> {
		await this.#sharing;
	}

	/** Releases everything once it is settled. Call this only once the node is closing. */
	async stop(): Promise<void> {
		for (const actor of this.#owned.actors.values()) this.#release(actor);
		await Promise.all(this.#releasing.values());
		this.#renewTimer?.cancel();
		await Promise.all(this.#handovers);
	}

	// ── renewing ──

	#renewAfter(ms: number): void {
		this.#renewTimer = this.#context.clock.setTimeout(() => void this.#renewRegularly(), ms);
	}

	async #renewRegularly(): Promise<void> {
		let soon = false;
		try {
			const since = await this.renew();
			this.#releaseIdle();
			// The response arrived when part of the new lease duration had passed: the machine slept, or storage was slow.
			soon = !isTrusted(this.#context, since);
		} catch (error) {
			this.#renewFailure.failed(error);
		}
		if (!this.#owned.closing || this.#owned.actors.size > 0)
			this.#renewAfter(soon ? 0 : this.#context.leaseTermMs / RENEWALS_PER_LEASE);
		// Last, because the next renewal must not wait for this.
		this.#reportInTurn();
	}

	async #renewNow(): Promise<Moment> {
		const begun = momentOf(this.#context.clock);
		const actors = [...this.#owned.actors.values()];
		const locked: Lease[] = [];
		for (let at = 0; at < actors.length; at += PROJECTS.leasesPerStep) {
			const owned = actors.slice(at, at + PROJECTS.leasesPerStep).filter((actor) => this.#owned.has(actor));
			locked.push(...(await this.#renewThese(owned.map(({ lease }) => lease.current))));
		}
		this.#renewedAt = begun;
		if (locked.length > 0) this.#renewLocked(locked);
		else if (actors.length > 0) this.#renewFailure.succeeded();
		return begun;
	}

	/** @param waits whether to wait briefly for locked rows @returns the leases whose rows are locked */
	async #renewThese(leases: readonly Lease[], waits = false): Promise<readonly Lease[]> {
		const { storage, clock, holder } = this.#context;
		const since = momentOf(clock);
		const renewal = await storage.renewLeases({ holder, leases, waits });
		this.#apply(leases, renewal, since);
		return renewal.locked;
	}

	#apply(leases: readonly Lease[], { renewed, locked }: Renewal, since: Moment): void {
		const held = new Map(renewed.map((lease) => [lease.projectId, lease]));
		const undecided = new Set(locked.map(({ projectId }) => projectId));
		const { onLate } = this.#options;
		const late: Actor[] = [];
		for (const lease of leases) {
			const { projectId } = lease;
			const actor = this.#owned.actors.get(projectId);
			if (actor?.lease.current !== lease || undecided.has(projectId)) continue;
			this.#stuck.delete(projectId);
			const still = held.get(projectId);
			if (still) {
				if (onLate !== null && !actor.lease.isTrusted) {
					actor.hold();
					late.push(actor);
				}
				actor.lease.renewed(still, since);
				continue;
			}
			this.#owned.drop(actor);
			this.#options.onLapsed(projectId);
		}
		if (late.length > 0) onLate?.(late);
	}

	/**
	 * Another transaction had locked the rows of these leases, usually a settle, and only briefly. All of them are
	 * retried together, then one by one with a short wait each. Rows that stay locked are left to the next renewal. If a
	 * lease stops being trusted meanwhile, its project starts nothing until the lease is renewed.
	 */
	#renewLocked(leases: readonly Lease[]): void {
		// Chained before the next renewal, which must not overtake this one either.
		this.#renewing = this.#renewing
			.then(() => this.#renewLockedAll(leases))
			.then(() => this.#renewFailure.succeeded())
			.catch((error: unknown) => this.#renewFailure.failed(error));
	}

	async #renewLockedAll(leases: readonly Lease[]): Promise<void> {
		const { logger } = this.#context;
		const locked = await this.#renewThese(leases);
		const isStuck = ({ projectId }: Lease) => Number(this.#stuck.has(projectId));
		let waits = WAITS_PER_RENEWAL;
		for (const lease of locked.toSorted((a, b) => isStuck(a) - isStuck(b))) {
			if (waits === 0) break;
			const [stillLocked] = await this.#renewThese([lease], true);
			if (!stillLocked) continue;
			waits -= 1;
			const { projectId } = lease;
			if (!this.#stuck.has(projectId))
				logger.warn({ projectId }, "a database transaction has locked this project's lease; its renewal waits");
			this.#stuck.add(projectId);
		}
		for (const projectId of this.#stuck) if (!this.#owned.actors.has(projectId)) this.#stuck.delete(projectId);
	}

	// ── releasing ──

	#releaseIdle(): void {
		const now = this.#context.clock.now();
		for (const actor of this.#owned.actors.values()) {
			const since = actor.idleSince;
			if (since === null || now - since < IDLE_MS) continue;
			const wakeAt = actor.wakeAt;
			if (wakeAt !== null && wakeAt - now < IDLE_MS) continue;
			this.#release(actor);
		}
	}

	/** Releases projects beyond this node's share, idle ones first, so that other nodes can take them. */
	#releaseSurplus(): void {
		const { actors } = this.#owned;
		const surplus = actors.size - this.#owned.share;
		if (surplus <= 0) return;
		const since = ({ idleSince }: Actor) => idleSince ?? Number.MAX_SAFE_INTEGER;
		const idleFirst = [...actors.values()].sort((a, b) => since(a) - since(b));
		for (const actor of idleFirst.slice(0, surplus)) this.#release(actor);
	}

	#release(actor: Actor): void {
		if (this.#releasing.has(actor)) return;
		const back = this.#retire(actor).finally(() => this.#releasing.delete(actor));
		this.#releasing.set(actor, back);
	}

	async #retire(actor: Actor): Promise<void> {
		const { projectId } = actor;
		const { seen, handover } = await this.#owned.retire(actor);
		if (handover) {
			this.#handovers.add(handover.over);
			void handover.over.then(() => this.#handovers.delete(handover.over));
		}
		// Until its turn, its lease is renewed.
		await this.#releases.run(projectId, async () => {
			if (!this.#owned.has(actor)) {
				handover?.released();
				return;
			}
			const { wakeAt, lease } = actor;
			// Storage may be unreachable, and thousands of calls would take seconds each.
			const isOver = !lease.isTrusted && !lease.isSuspended;
			if (isOver) {
				this.#owned.drop(actor);
				this.#options.onReleaseFailed();
			} else await this.releaseLease(actor, { wakeAt, seen, inFlight: handover?.attempts });
			handover?.released();
			this.#options.onReleased(projectId, wakeAt);
		});
	}

	/** Drops the actor and releases its lease. If that fails, the lease expires. */
	async releaseLease(actor: Actor, state: Omit<Params<"releaseLease">, "lease">): Promise<void> {
		const { storage, logger } = this.#context;
		await this.#owned.leave(actor, async () => {
			try {
				await storage.releaseLease({ lease: actor.lease.current, ...state });
			} catch (error) {
				logger.error({ err: error, projectId: actor.projectId }, "failed to release a lease; it will expire");
				this.#options.onReleaseFailed();
			}
		});
	}

	// ── reporting ──

	/** A node that owns nothing reports every other time, which is still in time for it to count as alive. */
	#reportInTurn(): void {
		this.#isSilent = this.#owned.actors.size === 0 && !this.#isSilent;
		if (this.#isSilent) return;
		if (this.#sharing !== null) {
			this.#lookWithoutReport();
			return;
		}
		this.#sharing = this.#report()
			.catch((error: unknown) => {
				// So that it doesn't skip the next turn.
				this.#isSilent = true;
				this.#reportFailure.failed(error);
				this.#lookWithoutReport();
			})
			.finally(() => {
				this.#sharing = null;
			});
	}

	/** The report hangs or failed, so it didn't say when to ask for due projects. */
	#lookWithoutReport(): void {
		this.#options.onNextDue(this.#context.clock.now());
	}

	async #report(): Promise<void> {
		const report = await this.renewShare();
		this.#reportFailure.succeeded();
		if (report === null || this.#owned.closing) return;
		this.#releaseSurplus();
		this.#options.onNextDue(report.nextDue);
	}
}
