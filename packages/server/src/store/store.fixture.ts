import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { Budget } from "../base/budget.ts";
import type { Clock } from "../base/clock.ts";
import { IdSource } from "../base/ids.ts";
import { silentLogger } from "../base/logger.ts";
import type { LogEvent, Storage } from "../storage/port.ts";
import { type RunningStore, startStore } from "./index.ts";

export const IDLE_MS = 3_600_000;

/** A new, empty database. */
export interface TestDatabase {
	/** Opens it; more than once if several nodes may share it. */
	open(clock: Pick<Clock, "now">): Promise<Storage>;
	/** From now on the database refuses every event that contains this text. */
	refuse(text: string): Promise<void>;
	refuseNothing(): Promise<void>;
	remove(): Promise<void>;
}

export interface TestStoreOptions {
	/** The queue to the log; unlimited by default. */
	readonly queue?: Budget;
}

/** A virtual clock that signals when a timer is set. */
class SignallingClock extends VirtualClock {
	#watchers: { left: number; readonly resolve: () => void }[] = [];

	override setTimeout(fire: () => void, ms: number) {
		const timer = super.setTimeout(fire, ms);
		if (ms > 0) for (const watcher of this.#watchers) if (--watcher.left === 0) watcher.resolve();
		this.#watchers = this.#watchers.filter(({ left }) => left > 0);
		return timer;
	}

	/** Resolves with the next timer that is set, or with the last of this many. */
	nextSleep(times = 1): Promise<void> {
		return new Promise((resolve) => this.#watchers.push({ left: times, resolve }));
	}
}

/** The rules on a real database, with a clock that only moves when told to. */
export class TestStore {
	readonly clock: SignallingClock;
	readonly storage: Storage;
	readonly ids: IdSource;
	store: RunningStore;
	/** What was handed to the lanes, by project, as `type` and `seq`. */
	readonly sent = new Map<string, LogEvent[]>();
	readonly database: TestDatabase;
	readonly #options: TestStoreOptions;
	/** What other nodes opened, to be closed at the end. */
	readonly #others: { store: RunningStore; storage: Storage | null }[] = [];

	private constructor(database: TestDatabase, storage: Storage, clock: SignallingClock, options: TestStoreOptions) {
		this.storage = storage;
		this.clock = clock;
		this.ids = new IdSource(clock);
		this.database = database;
		this.#options = options;
		this.store = this.#start(storage);
	}

	static async open(database: TestDatabase, options: TestStoreOptions = {}): Promise<TestStore> {
		const clock = new SignallingClock();
		const test = new TestStore(database, await database.open(clock), clock, options);
		await clock.nextSleep();
		return test;
	}

	/** The rules on this many more nodes if nodes may share the database; otherwise on its only node. */
	async startNodes(count: number): Promise<RunningStore[]> {
		const manyNodes = this.storage.peers !== null;
		const more = Array.from({ length: count }, () => (manyNodes ? this.database.open(this.clock) : null));
		const storages = await Promise.all(more);
		const asleep = this.clock.nextSleep(count);
		const nodes = storages.map((storage) => ({ store: this.#start(storage ?? this.storage), storage }));
		this.#others.push(...nodes);
		await asleep;
		return nodes.map(({ store }) => store);
	}

	#start(storage: Storage): RunningStore {
		return startStore({
			storage,
			engine: {
				recheck: () => undefined,
				queue: this.#options.queue ?? new Budget({ name: "queue", limit: Number.POSITIVE_INFINITY }),
				appended: (projectId, events) => {
					this.sent.set(projectId, [...(this.sent.get(projectId) ?? []), ...events]);
				},
			},
			clock: this.clock,
			ids: this.ids,
			logger: silentLogger,
			maxEventBytes: 100_000,
			basketIdleMs: IDLE_MS,
		});
	}

	async project(): Promise<string> {
		const id = this.ids.next("project");
		await this.storage.createProject({ id, name: "Shop", apps: [], createdAt: this.clock.now() });
		return id;
	}

	/** Advances to `at`, and lets each timer's work finish before the next fires. The rules must be running. */
	async advanceTo(at: number): Promise<void> {
		for (;;) {
			const { nextAt } = this.clock;
			if (nextAt !== null && nextAt > at) break;
			const asleep = this.clock.nextSleep();
			// Without a timer the rules are busy, and set one when they are done.
			if (nextAt !== null) this.clock.advanceTo(nextAt);
			await asleep;
		}
		this.clock.advanceTo(at);
	}

	/** Stops the rules, as when the service goes down. */
	stop(): Promise<void> {
		return this.store.stop();
	}

	async restart(): Promise<void> {
		const asleep = this.clock.nextSleep();
		this.store = this.#start(this.storage);
		await asleep;
	}

	async log(projectId: string): Promise<{ type: string; createdAt: number; data: Record<string, unknown> }[]> {
		const events = await this.storage.readLog({ projectId, after: 0, window: { maxEvents: 10_000, maxBytes: 1e9 } });
		return events.map(({ type, createdAt, body }) => ({
			type,
			createdAt,
			data: JSON.parse(Buffer.from(body).toString()).data,
		}));
	}

	async types(projectId: string): Promise<string[]> {
		return (await this.log(projectId)).map(({ type }) => type);
	}

	async close(): Promise<void> {
		await Promise.all([this.store, ...this.#others.map(({ store }) => store)].map((store) => store.stop()));
		await Promise.all([this.storage, ...this.#others.map(({ storage }) => storage)].map((storage) => storage?.close()));
		await this.database.remove();
	}
}
