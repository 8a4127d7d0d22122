/**
 * Takes leases of projects that have work. A publish or replay on this node pokes the project immediately. It asks
 * storage for due projects at startup, when the next alarm is due, after a hint, and when this node's last report said
 * that there would be work by now. Hints may be lost and nodes killed, so the reports find what they leave behind.
 *
 * When the node is at its limit, projects take turns. Poked projects wait in the order of their first poke; a project
 * that was released with work left rejoins at the end. Free capacity is split evenly between poked projects and due
 * ones found in storage: storage also knows of projects that this node doesn't, and hands them out in turn. So with N
 * projects that always have work, a node limited to L serves each poked project within 2 · ⌈N / L⌉ turns, each lasting a
 * quantum and a poll, and every other project within 4 · ⌈N / L⌉.
 */
import { LONGEST_WAIT_MS, type Moment, momentOf, type Timer } from "../../base/clock.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import type { Lease } from "../../storage/port.ts";
import type { ActorContext } from "../actor/context.ts";
import { isTrusted } from "../actor/lease.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import { LockedLeases, type OwnedProjects, WaitingProjects } from "./projects.ts";

const ACQUIRE_BATCH = 200;
/** How often storage is asked while due projects can't be taken, or leases of this node run out. */
const POLL_MS = 1_000;
/** Projects released first when due ones wait, since their number is unknown. Doubles while some still wait. */
const FIRST_RELEASES = 8;
/** Delay before storage is asked again after a failure. */
const RETRY_MS = 1_000;

export type TakerContext = Pick<ActorContext, "storage" | "clock" | "disk" | "logger" | "holder" | "leaseTermMs">;

export interface LeaseTakerOptions {
	readonly owned: OwnedProjects;
	readonly keeper: Pick<LeaseKeeper, "renew" | "renewOverdue" | "renewShare" | "makeRoom">;
	/** When to ask for the lease that ends next, if other nodes share the database. */
	readonly nextEnd?: (() => Promise<number | null>) | null;
	/** A lease was taken. @param since a moment before the request to storage */
	readonly onTaken: (lease: Lease, since: Moment) => void;
}

interface Acquisition {
	/** How many projects this node may then own. */
	readonly most: number;
	/** Any that are due by default. */
	readonly projectIds?: readonly string[];
	/** The list that they come from, if this node held them when the database's epoch began. */
	readonly heldBefore?: HeldBefore | undefined;
	readonly isRequested?: boolean;
}

/** Projects that this node held when an epoch of the database began, and that it hasn't asked for yet. */
type HeldBefore = Set<string>;

export class LeaseTaker {
	readonly #context: TakerContext;
	readonly #options: LeaseTakerOptions;
	readonly #owned: OwnedProjects;
	readonly #waiting: WaitingProjects;
	readonly #locked: LockedLeases;
	readonly #failure: RepeatedFailure;
	/** Due projects are waiting for capacity. */
	#dueWait = false;
	/** No capacity can be freed for them: no project is idle or has run for a quantum. */
	#crowded = false;
	#releases = FIRST_RELEASES;
	/** Whether a project was poked since storage was last asked for the next alarm. */
	#isPoked = false;
	/** Whether poked projects get the odd one when free capacity is split. */
	#oddForPoked = false;
	/** Projects poked after another node was found to own them, and whether by a user's request: they are poked again. */
	readonly #pokedElsewhere = new Map<string, boolean>();
	/** Each epoch has its own list: what is known of one says nothing about the next. */
	#heldBefore: HeldBefore = new Set();
	#taking: Promise<void> | null = null;
	#lookForDue = false;
	#pollTimer: Timer | null = null;
	/** For work that the last report named and no poll finds before. */
	#expectedTimer: Timer | null = null;
	/** Monotonic time at which storage is next polled for due projects; never while a poll is running. */
	#pollDue = Number.POSITIVE_INFINITY;
	/** The earliest alarm set in storage since it was last asked for the next one. */
	#alarmSet = Number.POSITIVE_INFINITY;
	/** When the last lease that this node left to expire will have expired. Storage lists leases only after that. */
	#lapsing = Number.NEGATIVE_INFINITY;

	constructor(context: TakerContext, options: LeaseTakerOptions) {
		this.#context = context;
		this.#options = options;
		this.#owned = options.owned;
		this.#waiting = new WaitingProjects(context.clock, options.owned);
		this.#locked = new LockedLeases(context.disk);
		this.#failure = new RepeatedFailure(context, {
			failed: "failed to take projects: storage is unavailable",
			over: "projects are taken again",
		});
	}

	/** Takes the project; if another node was just found to own it, a moment later, unless that node still does. */
	poke(projectId: string): void {
		if (!this.#mayPoke(projectId, false)) return;
		this.#waiting.poked.add(projectId);
		this.#isPoked = true;
		// If no capacity can be freed, the next poll takes it.
		if (!this.#crowded) this.#take();
	}

	/** Like {@link poke}, for a user's request: some capacity beyond the limit is reserved for those. */
	pokeRequested(projectId: string): void {
		if (this.#locked.request(projectId) || !this.#mayPoke(projectId, true)) return;
		this.#waiting.requested.add(projectId);
		this.#take();
	}

	/** Takes the projects that this node held when the database's current epoch began. */
	takeAgain(projectIds: readonly string[]): void {
		if (this.#owned.closing) return;
		this.#heldBefore = new Set(projectIds);
		this.takeDue();
	}

	takeDue(): void {
		this.#lookForDue = true;
		this.#take();
	}

	/**
	 * Asks for due projects at this time, unless the next call replaces it: leases are renewed, and other nodes take what is
	 * due. Null if storage has no work to come.
	 */
	expect(at: number | null): void {
		this.#expectedTimer?.cancel();
		if (this.#owned.closing || at === null || this.#isPolledBy(at)) return;
		const ms = Math.min(this.#until(at), LONGEST_WAIT_MS);
		this.#expectedTimer = this.#context.clock.setTimeout(() => this.takeDue(), ms);
	}

	/** A project's release has finished, and it next has work at `wakeAt`. */
	released(projectId: string, wakeAt: number | null): void {
		// A project that was poked meanwhile has work that neither its actor nor the last poll knew about.
		if (this.#dueWait || this.#waiting.has(projectId)) {
			if (wakeAt !== null) this.#waiting.later.set(projectId, wakeAt);
			this.takeDue();
		} else if (this.#mayTakePoked()) this.#take();
		else if (wakeAt !== null) {
			this.#alarmSet = Math.min(this.#alarmSet, wakeAt);
			if (!this.#isPolledBy(wakeAt)) this.#pollAt(wakeAt);
		}
	}

	/** Polls for leases that this node has just left to expire, until they have expired. */
	takeLapsed(): void {
		const { clock, leaseTermMs } = this.#context;
		this.#lapsing = clock.now() + leaseTermMs;
		const at = clock.now() + POLL_MS;
		if (!this.#isPolledBy(at)) this.#pollAt(at);
	}

	sleep(): void {
		this.#pollTimer?.cancel();
		this.#expectedTimer?.cancel();
		this.#locked.cancel();
	}

	async whenDone(): Promise<void> {
		await this.#taking;
	}

	/** Takes what waits, one step at a time. */
	#take(): void {
		if (this.#owned.closing) return;
		this.#taking ??= this.#runStep();
	}

	async #runStep(): Promise<void> {
		let hasMore = false;
		try {
			await this.#takeAll();
			this.#failure.succeeded();
			hasMore = this.#hasMore;
		} catch (error) {
			this.#failure.failed(error, { retryInMs: RETRY_MS });
			this.#pollAt(this.#context.clock.now() + RETRY_MS);
		}
		this.#taking = null;
		if (hasMore) this.#take();
	}

	/** Whether something arrived after its turn in the step. */
	get #hasMore(): boolean {
		const isPoked = !this.#crowded && this.#isPoked;
		const isRequested = this.#waiting.requested.free(1).length > 0;
		return this.#heldBefore.size > 0 || isRequested || isPoked || this.#mayTakePoked() || this.#lookForDue;
	}

	async #takeAll(): Promise<void> {
		await this.#acquireHeldBefore();
		await this.#acquireRequested();
		await this.#acquirePoked();
		if (this.#lookForDue) {
			this.#lookForDue = false;
			// Before storage can list this node's own leases as expired.
			await this.#options.keeper.renewOverdue();
			await this.#acquireDue();
			if (this.#owned.room(this.#owned.share) === 0) {
				// The share may be out of date: a node that leaves releases all of its projects immediately.
				await this.#options.keeper.renewShare();
				await this.#acquireDue();
			}
		}
		await this.#setPoll();
	}

	async #acquireHeldBefore(): Promise<void> {
		while (this.#heldBefore.size > 0) {
			const heldBefore = this.#heldBefore;
			const some = [...heldBefore].slice(0, ACQUIRE_BATCH);
			for (const projectId of some) heldBefore.delete(projectId);
			// Storage would hand out even a lease that this node has taken since, under a running actor.
			const projectIds = some.filter((projectId) => this.#owned.isFree(projectId));
			if (projectIds.length === 0) continue;
			try {
				await this.#acquire({ most: this.#owned.limit, projectIds, heldBefore });
			} catch (error) {
				for (const projectId of projectIds) heldBefore.add(projectId);
				throw error;
			}
		}
	}

	/** When the reserved capacity is used up too, projects wait in line with the others. */
	async #acquireRequested(): Promise<void> {
		const most = this.#owned.limit + this.#owned.reserved;
		for (;;) {
			const wanted = this.#waiting.requested.removeFree(ACQUIRE_BATCH);
			if (wanted.length === 0) return;
			const room = this.#owned.room(most);
			for (const projectId of wanted.splice(room)) this.#waiting.poked.add(projectId);
			if (wanted.length > 0) await this.#acquireNamed(most, wanted, true);
		}
	}

	async #acquirePoked(): Promise<void> {
		this.#waiting.pokeDue();
		const room = this.#owned.room();
		this.#oddForPoked = !this.#oddForPoked;
		let left = this.#dueWait ? Math.floor((room + Number(this.#oddForPoked)) / 2) : room;
		while (left > 0) {
			const wanted = this.#waiting.poked.removeFree(Math.min(ACQUIRE_BATCH, left));
			if (wanted.length === 0) break;
			const taken = await this.#acquireNamed(this.#owned.limit, wanted);
			left = Math.min(left - taken, this.#owned.room());
		}
	}

	/** @returns how many were taken */
	async #acquireNamed(most: number, wanted: readonly string[], isRequested = false): Promise<number> {
		const taken = await this.#acquire({ most, projectIds: wanted, isRequested });
		if (this.#context.storage.peers !== null)
			this.#waiting.foundElsewhere(wanted.filter((id) => !taken.has(id) && !this.#locked.has(id)));
		return taken.size;
	}

	async #acquireDue(): Promise<void> {
		while ((await this.#acquire({ most: this.#owned.share })).size === ACQUIRE_BATCH && !this.#owned.closing);
	}

	/** Not if another node was just found to own the project, or if a retry is scheduled anyway. */
	#mayPoke(projectId: string, isRequested: boolean): boolean {
		if (this.#owned.closing || this.#locked.isWaiting(projectId)) return false;
		const elsewhereMs = this.#waiting.elsewhereMs(projectId);
		if (elsewhereMs > 0) this.#pokeLater(projectId, isRequested, elsewhereMs);
		return elsewhereMs <= 0;
	}

	/** That node may have released the project since. Then nothing else tells this one of the work. */
	#pokeLater(projectId: string, isRequested: boolean, ms: number): void {
		const isPending = this.#pokedElsewhere.has(projectId);
		this.#pokedElsewhere.set(projectId, isRequested || this.#pokedElsewhere.get(projectId) === true);
		if (isPending) return;
		this.#context.clock.setTimeout(() => {
			const isRequested = this.#pokedElsewhere.get(projectId);
			this.#pokedElsewhere.delete(projectId);
			if (this.#owned.working(projectId)) return;
			if (isRequested) this.pokeRequested(projectId);
			else this.poke(projectId);
		}, ms);
	}

	#mayTakePoked(): boolean {
		return this.#owned.room() > 0 && this.#waiting.poked.free(1).length > 0;
	}

	/** @returns the projects that were taken */
	async #acquire({ most, projectIds, heldBefore, isRequested = false }: Acquisition): Promise<ReadonlySet<string>> {
		const { storage, clock, holder } = this.#context;
		const { onTaken, keeper } = this.#options;
		const room = Math.min(ACQUIRE_BATCH, this.#owned.room(most));
		if (room <= 0) return new Set();
		const since = momentOf(clock);
		let locked: readonly string[] = [];
		const leases = await storage.acquireLeases({
			holder,
			limit: room,
			projectIds,
			heldBefore: heldBefore !== undefined,
			onLocked: (ids) => {
				locked = ids;
			},
		});
		for (const lease of leases) onTaken(lease, since);
		const unlocked = projectIds ?? leases.map(({ projectId }) => projectId);
		for (const projectId of unlocked) if (!locked.includes(projectId)) this.#locked.forget(projectId);
		for (const projectId of locked) this.#tryAgain(projectId, isRequested, heldBefore);
		// Storage responded too late for these leases to be trusted. Without a renewal now, their projects would stand
		// still until the next one.
		if (leases.length > 0 && !isTrusted(this.#context, since)) await keeper.renew();
		return new Set(leases.map(({ projectId }) => projectId));
	}

	/** The project's row was locked. @param heldBefore the list to put it back on, unless the next epoch has begun by then */
	#tryAgain(projectId: string, isRequested: boolean, heldBefore: HeldBefore | undefined): void {
		if (this.#owned.closing) return;
		this.#locked.retry(projectId, isRequested, (isRequestedNow) => {
			if (heldBefore === this.#heldBefore) {
				heldBefore.add(projectId);
				this.#take();
			} else if (!isRequestedNow) this.poke(projectId);
			if (isRequestedNow) this.pokeRequested(projectId);
		});
	}

	/** Schedules the next poll. Projects that are due but weren't taken, for lack of room, wait for a while. */
	async #setPoll(): Promise<void> {
		const { storage, clock } = this.#context;
		this.#alarmSet = Number.POSITIVE_INFINITY;
		this.#isPoked = false;
		const [next, end] = await Promise.all([storage.nextAlarm(), this.#options.nextEnd?.()]);
		const now = clock.now();
		this.#makeRoom(next !== null && next <= now);
		const due = Math.min(next ?? Number.POSITIVE_INFINITY, this.#alarmSet);
		let at = due > now ? due : now + POLL_MS;
		if (this.#lapsing > now) at = Math.min(at, this.#lapsing, now + POLL_MS);
		if (at <= now + LONGEST_WAIT_MS) this.#pollAt(at);
		// Where nodes share the database, their reports find later work.
		else if (storage.peers === null) this.#pollAt(now + LONGEST_WAIT_MS);
		// A killed node's leases end one after the other, and this poll was for one of them.
		if (end !== undefined) this.expect(end);
	}

	/** Releases some projects if others wait for capacity. */
	#makeRoom(isDue: boolean): void {
		// If nothing is due, other nodes own the poked projects, or those were poked since: then it looks again.
		this.#dueWait = isDue && this.#owned.room() === 0;
		this.#crowded = false;
		if (!this.#dueWait) {
			this.#releases = FIRST_RELEASES;
			// From now on alarms wake them.
			this.#waiting.later.clear();
			return;
		}
		const poked = this.#waiting.poked.free(ACQUIRE_BATCH).length;
		this.#options.keeper.makeRoom(poked > 0 ? poked : this.#releases);
		if (poked === 0) this.#releases = Math.min(ACQUIRE_BATCH, this.#releases * 2);
		if (this.#owned.room() > 0) this.#lookForDue = true;
		else this.#crowded = true;
	}

	#isPolledBy(at: number): boolean {
		return this.#pollDue <= this.#context.clock.elapsed() + this.#until(at);
	}

	#pollAt(at: number): void {
		if (this.#owned.closing) return;
		const { clock } = this.#context;
		const ms = this.#until(at);
		this.#pollTimer?.cancel();
		this.#pollDue = clock.elapsed() + ms;
		this.#pollTimer = clock.setTimeout(() => {
			this.#pollDue = Number.POSITIVE_INFINITY;
			this.takeDue();
		}, ms);
	}

	/** Milliseconds; negative if it has passed. */
	#until(at: number): number {
		return at - this.#context.clock.now();
	}
}
