import { PROJECT_WRITES } from "../../../src/base/budgets.ts";
import type { Clock } from "../../../src/base/clock.ts";
import { type DatabaseObserver, type EpochKeeper, type HintListener, StorageError } from "../../../src/storage/port.ts";
import { ClockOffset, storedGeneration, toGeneration } from "../../../src/storage/shared/leases.ts";
import type { MemoryDatabase } from "./database.ts";
import { type DueTurn, FIRST_TURN } from "./due-turn.ts";
import { joinEpoch } from "./epochs.ts";
import type { EpochRow } from "./rows.ts";
import type { Tables } from "./tables.ts";

/** The current time. */
export interface LeaseTime {
	/** On the node's clock. */
	readonly node: number;
	/** On the database's clock. */
	readonly database: number;
}

export interface NodeOptions {
	readonly clock: Pick<Clock, "now">;
	readonly leaseTermMs: number;
	readonly observer: DatabaseObserver;
}

const closed = (): StorageError => new StorageError("closed", "The storage is closed.");

/** One node's access to the database: what it remembers, and how its calls handle epochs and locks. */
export class MemoryNode {
	readonly database: MemoryDatabase;
	readonly clock: Pick<Clock, "now">;
	readonly leaseTermMs: number;
	readonly observer: DatabaseObserver;
	readonly offset = new ClockOffset();
	/** By project, the last event that this node knows to be in the log. */
	readonly ends = new Map<string, number>();
	readonly hintListeners = new Set<HintListener>();
	readonly epochListeners = new Set<() => void>();
	readonly epochKeepers = new Set<EpochKeeper>();
	/** Where the next call for due projects continues. */
	dueTurn: DueTurn = FIRST_TURN;
	/** Leases waiting to be released because another session holds their project. */
	releasesWaiting = 0;
	epoch: EpochRow;
	/** How many earlier epochs it has been in. */
	#epochs = 0;
	readonly #changed = new Set<string>();
	readonly #unowned = new Set<string>();
	/** By project, the writes waiting for its rows. */
	readonly #writesWaiting = new Map<string, number>();
	readonly #underWay = new Set<Promise<unknown>>();
	#joining: Promise<void> | null = null;
	#closing = false;

	constructor(database: MemoryDatabase, { clock, leaseTermMs, observer }: NodeOptions) {
		this.database = database;
		this.clock = clock;
		this.leaseTermMs = leaseTermMs;
		this.observer = observer;
		this.epoch = database.transaction(() => joinEpoch(database, { memory: null, termMs: leaseTermMs })).epoch;
		this.compareClocks();
		database.hints.add(this.#hear);
	}

	get tables(): Tables {
		return this.database.tables;
	}

	time(): LeaseTime {
		return { node: this.clock.now(), database: this.database.clock.now() };
	}

	compareClocks(): void {
		const { node, database } = this.time();
		this.offset.measured(database, node, node);
	}

	/** A lease's generation as the engine sees it: including its epoch. */
	toGeneration(stored: number): number {
		return toGeneration(this.#epochs, stored);
	}

	/** A lease's generation as stored in the database; for a lease of another epoch, one that is never stored. */
	storedGeneration(generation: number): number {
		return storedGeneration(this.#epochs, generation);
	}

	/** Hints to other nodes that a project has work or has changed, and whether it has work and no holder. */
	changed(projectId: string, isUnowned = false): void {
		if (isUnowned) this.#unowned.add(projectId);
		this.#changed.add(projectId);
		if (this.#changed.size === 1) this.database.carryHint(this.#tell);
	}

	/** Runs a verb as one transaction. */
	run<T>(verb: () => T): Promise<T> {
		return this.#closing ? Promise.reject(closed()) : this.#perform(verb);
	}

	/** The same, once no other session holds the project. Rejects as `locked` if that takes too long. */
	runHolding<T>(projectId: string, verb: () => T): Promise<T> {
		return this.#closing ? Promise.reject(closed()) : this.#performHolding(projectId, verb);
	}

	/** Waits for calls in progress. */
	async close(): Promise<void> {
		this.#closing = true;
		while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
		this.database.hints.delete(this.#hear);
	}

	#perform<T>(verb: () => T): Promise<T> {
		if (this.#joining !== null) return this.#track(this.#joining.then(() => this.#perform(verb)));
		if (this.epoch.history !== this.database.history) return this.#meetEpoch();
		try {
			return Promise.resolve(this.database.transaction(verb));
		} catch (error) {
			return Promise.reject(error as Error);
		}
	}

	#performHolding<T>(projectId: string, verb: () => T): Promise<T> {
		const { locks } = this.database;
		const project = this.database.project(projectId);
		if (project === undefined || !locks.has(project.no)) return this.#perform(verb);
		const waiting = this.#writesWaiting.get(projectId) ?? 0;
		if (waiting >= PROJECT_WRITES.perOwner + PROJECT_WRITES.waiting)
			return Promise.reject(new StorageError("busy", "Too many changes of this project wait for the database."));
		this.#writesWaiting.set(projectId, waiting + 1);
		const released = locks.released(project.no).finally(() => {
			this.#writesWaiting.set(projectId, this.#writesWaiting.get(projectId)! - 1);
		});
		return this.#track(released.then(() => this.#performHolding(projectId, verb)));
	}

	#track<T>(call: Promise<T>): Promise<T> {
		this.#underWay.add(call);
		const over = () => this.#underWay.delete(call);
		call.then(over, over);
		return call;
	}

	/**
	 * The database continues from another state: the call that finds out fails, and later calls belong to the next epoch.
	 */
	#meetEpoch(): Promise<never> {
		const told = Promise.resolve().then(() => {
			for (const listener of this.epochListeners) listener();
		});
		this.#joining = this.#track(
			told.then(() => {
				this.#joining = null;
				this.#join();
			}),
		);
		return told.then(() => {
			throw new StorageError("lost", "The database's history has changed.");
		});
	}

	#join(): void {
		const keepers = [...this.epochKeepers];
		const joined = this.database.transaction(() =>
			joinEpoch(this.database, {
				memory: this.epoch,
				ends: this.ends,
				claims: keepers.flatMap((keeper) => keeper.claims()),
				storedGeneration: (generation) => this.storedGeneration(generation),
				termMs: this.leaseTermMs,
			}),
		);
		const before = this.#epochs;
		this.#epochs += 1;
		this.epoch = joined.epoch;
		this.ends.clear();
		const kept = joined.kept.map(({ lease }) => {
			return { ...lease, generation: this.toGeneration(storedGeneration(before, lease.generation)) };
		});
		for (const keeper of keepers) keeper.begun(kept, joined.opensInMs);
		this.compareClocks();
		for (const tail of joined.lost) this.observer.lostTail?.(tail);
	}

	readonly #tell = (): void => {
		const [projectIds, unowned] = [[...this.#changed], [...this.#unowned]];
		this.#changed.clear();
		this.#unowned.clear();
		for (const hear of this.database.hints) if (hear !== this.#hear) hear(projectIds, unowned);
	};

	readonly #hear: HintListener = (projectIds, unowned) => {
		for (const listener of this.hintListeners) listener(projectIds, unowned);
	};
}
