/**
 * Lets items that arrive during a commit share the next one, in turn by owner.
 *
 * When idle, an item is committed immediately. Under load (the last batch held more than one item) the next batch waits
 * briefly, so that more items share a commit's fixed cost, the disk. One batch is in flight at a time.
 *
 * Each owner (a project) has its own queue, and its items keep their order. When not everything fits into a batch,
 * owners take turns (deficit round robin by weight): a large backlog of one owner delays the others by one turn.
 *
 * ```
 *            add               turn              committed
 *   (none) ───────▶ waiting ───────▶ in a batch ───────────▶ (none)
 *                      ▲                 │ locked
 *                      │ backed off      ▼
 *                      └────────────── apart ──▶ given up, when the owner's patience has ended
 * ```
 *
 * If others have committed lately, an owner whose own items fill half a batch or more pauses for as long as that commit
 * took. So it takes at most half of the time.
 *
 * A commit never waits for one owner. It reports owners whose rows another session has locked, and commits the others.
 * The items of a locked owner are then committed `apart` immediately: that commit may wait for the lock. A few owners
 * at a time do this, alongside the batches. After that the owner tries batches again, at growing intervals. Items added
 * meanwhile queue behind.
 *
 * All of this waits for the database, so it uses real time.
 */
import type { Clock, Timer } from "./clock.ts";

/** Under load, batching takes this multiple of the last commit's duration, up to a maximum. */
const GATHER_FACTOR = 10;
const TURNS_IN_A_BATCH = 16;
/** The share of a full batch from which a single owner's batch earns it a rest. */
const FILLS = 0.5;
/** How long ago the last commit of another owner may be for a rest to make sense, milliseconds. */
const OTHERS_MS = 1_000;
/** Owners that may wait for their locks at the same time, … */
const APART_AT_ONCE = 2;
/** … and those that may queue for that. The others back off. */
const APART_QUEUE = 16;
/** A locked owner is tried apart again after this many failed commits. */
const TRIES_BETWEEN_WAITS = 4;
/** First back-off of an owner that stays locked, milliseconds. It doubles up to the maximum below. */
const BACK_OFF_MS = 50;
const BACK_OFF_MAX_MS = 1_000;

interface GroupCommitOptions<T> {
	/** Real time, even under a virtual clock, because it waits for the database. */
	readonly clock: Pick<Clock, "elapsed" | "setTimeout">;
	readonly ownerOf: (item: T) => string;
	/**
	 * Commits a batch. If `apart`, all of it belongs to one owner, and it may briefly wait for that owner's lock. Returns
	 * the items that weren't committed because their owner is locked. Must not reject: it handles its own errors.
	 */
	readonly commit: (batch: T[], apart: boolean) => Promise<readonly T[]>;
	readonly weigh: (item: T) => number;
	/** A batch closes when it weighs this much; a heavier item is committed without others. */
	readonly maxWeight: number;
	/** Maximum time to batch under load, milliseconds. */
	readonly gatherMaxMs: number;
	/**
	 * How long an owner may stay locked before its items are rejected, milliseconds. Unlimited by default, until {@link
	 * GroupCommit.end}.
	 */
	readonly patienceMs?: number;
	/** Receives the waiting items of a locked owner whose time limit has passed. */
	readonly giveUp: (items: T[]) => void;
}

class Owner<T> {
	readonly name: string;
	items: T[] = [];
	weight = 0;
	/** The weight that it may take in its turn. */
	deficit = 0;
	/** How often in a row it was found locked. */
	tries = 0;
	/** Whether its items may go into a batch. */
	inRotation = false;
	committing = false;
	/** Whether it leaves the next batches to others. */
	resting = false;
	patience: Timer | null = null;
	isOverdue = false;

	constructor(name: string) {
		this.name = name;
	}
}

export class GroupCommit<T> {
	readonly #options: GroupCommitOptions<T>;
	readonly #owners = new Map<string, Owner<T>>();
	/** Owners with items for the next batches, in the order of their turns. */
	#rotation: Owner<T>[] = [];
	/** The weight of everything in rotation. */
	#weight = 0;
	#committing = false;
	/** The owner of the last batch, if it had one owner. */
	#lastOwner: string | null = null;
	/** When owners last changed from one batch to the next, or shared one. */
	#othersAt = Number.NEGATIVE_INFINITY;
	#gathering: Timer | null = null;
	#apart = 0;
	readonly #wantApart: Owner<T>[] = [];
	#drained: (() => void)[] = [];
	#endsAt: number | null = null;

	constructor(options: GroupCommitOptions<T>) {
		this.#options = options;
	}

	/** The weight of items waiting for their turn, excluding those being committed and those of locked owners. */
	get waitingWeight(): number {
		return this.#weight;
	}

	add(item: T): void {
		const owner = this.#ownerOf(item);
		const weight = this.#options.weigh(item);
		owner.items.push(item);
		owner.weight += weight;
		if (owner.inRotation) this.#weight += weight;
		else if (owner.tries === 0 && !owner.resting) this.#enter(owner);
		this.#flushSoon();
	}

	/** From now on, gives up any owner that stays locked beyond `ms` from now. */
	end(ms: number): void {
		this.#endsAt = this.#options.clock.elapsed() + ms;
		for (const owner of this.#owners.values()) if (owner.tries > 0) this.#startPatience(owner);
	}

	drain(): Promise<void> {
		if (this.#isQuiet()) return Promise.resolve();
		this.#flush();
		return new Promise((resolve) => this.#drained.push(resolve));
	}

	// ── batches ──

	#ownerOf(item: T): Owner<T> {
		const name = this.#options.ownerOf(item);
		let owner = this.#owners.get(name);
		if (!owner) {
			owner = new Owner(name);
			this.#owners.set(name, owner);
		}
		return owner;
	}

	#enter(owner: Owner<T>): void {
		owner.inRotation = true;
		owner.deficit = 0;
		this.#rotation.push(owner);
		this.#weight += owner.weight;
	}

	#leave(owner: Owner<T>): void {
		owner.inRotation = false;
		this.#rotation.splice(this.#rotation.indexOf(owner), 1);
		this.#weight -= owner.weight;
	}

	#flushSoon(): void {
		if (!this.#gathering || this.#weight >= this.#options.maxWeight) this.#flush();
	}

	#flush(): void {
		if (!this.#committing && this.#rotation.length > 0) void this.#commitBatch();
	}

	async #commitBatch(): Promise<void> {
		this.#gathering?.cancel();
		this.#gathering = null;
		this.#committing = true;
		const { commit, clock, maxWeight } = this.#options;
		const owners = new Set<Owner<T>>();
		const batch = this.#takeTurns(owners);
		const begun = clock.elapsed();
		const locked = await commit(batch, false);
		const tookMs = clock.elapsed() - begun;
		this.#committing = false;
		this.#noteOwners(owners, begun);
		const [owner, ...others] = owners;
		if (owner && others.length + locked.length === 0 && this.#fills(batch)) this.#rest(owner, begun + tookMs, tookMs);
		this.#committed(owners, locked);
		const more = this.#rotation.length > 0;
		if (more && (this.#weight >= maxWeight || batch.length === 1)) this.#flush();
		else if (more || batch.length > 1) this.#gather(tookMs);
		this.#quiet();
	}

	#noteOwners(owners: ReadonlySet<Owner<T>>, now: number): void {
		const [owner] = owners;
		const only = owners.size === 1 ? owner!.name : null;
		if (only === null || only !== this.#lastOwner) this.#othersAt = now;
		this.#lastOwner = only;
	}

	#fills(batch: readonly T[]): boolean {
		const { weigh, maxWeight } = this.#options;
		return batch.reduce((sum, item) => sum + weigh(item), 0) >= maxWeight * FILLS;
	}

	/** Takes an owner out of the rotation for a while, if others use it. */
	#rest(owner: Owner<T>, now: number, ms: number): void {
		if (now - this.#othersAt > OTHERS_MS) return;
		owner.resting = true;
		if (owner.inRotation) this.#leave(owner);
		this.#options.clock.setTimeout(() => {
			owner.resting = false;
			if (this.#owners.get(owner.name) !== owner) return;
			if (owner.tries === 0 && !owner.committing) this.#succeeded(owner);
			this.#flushSoon();
			this.#quiet();
		}, ms);
	}

	#gather(lastCommitMs: number): void {
		const { clock, gatherMaxMs } = this.#options;
		const timer = clock.setTimeout(
			() => {
				if (this.#gathering !== timer) return;
				this.#gathering = null;
				this.#flush();
			},
			Math.min(gatherMaxMs, lastCommitMs * GATHER_FACTOR),
		);
		this.#gathering = timer;
	}

	/** Each owner in turn takes what its deficit allows. A batch's first item is taken even if it weighs more. */
	#takeTurns(owners: Set<Owner<T>>): T[] {
		const { weigh, maxWeight } = this.#options;
		const turn = maxWeight / TURNS_IN_A_BATCH;
		const batch: T[] = [];
		let room = maxWeight;
		let isFull = false;
		while (!isFull && this.#rotation.length > 0) {
			const owner = this.#rotation.shift()!;
			owner.deficit += turn;
			let count = 0;
			for (const item of owner.items) {
				const weight = weigh(item);
				if (weight > owner.deficit && (weight <= maxWeight || owner.deficit < maxWeight)) break;
				if (weight > room && (batch.length > 0 || count > 0)) {
					isFull = true;
					break;
				}
				count += 1;
				room -= weight;
				owner.deficit -= weight;
				owner.weight -= weight;
				this.#weight -= weight;
			}
			batch.push(...owner.items.splice(0, count));
			if (count > 0) {
				owner.committing = true;
				owners.add(owner);
			}
			owner.inRotation = owner.items.length > 0;
			if (!owner.inRotation) continue;
			if (isFull) this.#rotation.unshift(owner);
			else this.#rotation.push(owner);
		}
		return batch;
	}

	/** Puts locked items back into their owners' queues. */
	#committed(owners: Iterable<Owner<T>>, locked: readonly T[]): void {
		const back = Map.groupBy(locked, this.#options.ownerOf);
		for (const owner of owners) {
			const items = back.get(owner.name);
			if (items) this.#failed(owner, items);
			else this.#succeeded(owner);
		}
	}

	#succeeded(owner: Owner<T>): void {
		owner.committing = false;
		owner.tries = 0;
		owner.isOverdue = false;
		owner.patience?.cancel();
		owner.patience = null;
		if (owner.resting) return;
		if (owner.items.length === 0) this.#owners.delete(owner.name);
		else if (!owner.inRotation) this.#enter(owner);
	}

	// ── locked owners ──

	#failed(owner: Owner<T>, items: readonly T[]): void {
		const { weigh } = this.#options;
		if (owner.inRotation) this.#leave(owner);
		owner.committing = false;
		owner.items = [...items, ...owner.items];
		for (const item of items) owner.weight += weigh(item);
		owner.tries += 1;
		if (!owner.patience) this.#startPatience(owner);
		if (owner.isOverdue) this.#giveUp(owner);
		else if (owner.tries % TRIES_BETWEEN_WAITS === 1 && this.#wantApart.length < APART_QUEUE) {
			this.#wantApart.push(owner);
			this.#startApart();
		} else this.#backOff(owner);
	}

	#startPatience(owner: Owner<T>): void {
		const { clock, patienceMs = Number.POSITIVE_INFINITY } = this.#options;
		const untilEnd = this.#endsAt === null ? Number.POSITIVE_INFINITY : Math.max(0, this.#endsAt - clock.elapsed());
		const ms = Math.min(patienceMs, untilEnd);
		owner.patience?.cancel();
		if (ms < Number.POSITIVE_INFINITY) owner.patience = clock.setTimeout(() => this.#overdue(owner), ms);
	}

	#backOff(owner: Owner<T>): void {
		const ms = Math.min(BACK_OFF_MAX_MS, BACK_OFF_MS * 2 ** Math.min(owner.tries - 1, 10));
		this.#options.clock.setTimeout(() => {
			if (this.#owners.get(owner.name) !== owner) return;
			this.#enter(owner);
			this.#flushSoon();
		}, ms);
	}

	#startApart(): void {
		while (this.#apart < APART_AT_ONCE && this.#wantApart.length > 0) {
			const owner = this.#wantApart.shift()!;
			if (this.#owners.get(owner.name) === owner) void this.#commitApart(owner);
		}
	}

	async #commitApart(owner: Owner<T>): Promise<void> {
		const { commit, weigh, maxWeight } = this.#options;
		let count = 0;
		let weight = 0;
		for (const item of owner.items) {
			if (count > 0 && weight + weigh(item) > maxWeight) break;
			weight += weigh(item);
			count += 1;
		}
		const items = owner.items.splice(0, count);
		owner.weight -= weight;
		owner.committing = true;
		this.#apart += 1;
		const locked = await commit(items, true);
		this.#apart -= 1;
		this.#committed([owner], locked);
		this.#startApart();
		this.#flushSoon();
		this.#quiet();
	}

	#overdue(owner: Owner<T>): void {
		owner.isOverdue = true;
		if (!owner.committing) this.#giveUp(owner);
		this.#quiet();
	}

	#giveUp(owner: Owner<T>): void {
		if (owner.inRotation) this.#leave(owner);
		this.#owners.delete(owner.name);
		owner.patience?.cancel();
		this.#options.giveUp(owner.items);
	}

	// ── the end ──

	#isQuiet(): boolean {
		return !this.#committing && this.#owners.size === 0;
	}

	#quiet(): void {
		if (this.#drained.length === 0) return;
		if (this.#isQuiet()) for (const resolve of this.#drained.splice(0)) resolve();
		else this.#flush();
	}
}
