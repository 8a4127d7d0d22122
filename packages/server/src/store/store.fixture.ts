import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { IdSource } from "../base/ids.ts";
import { silentLogger } from "../base/logger.ts";
import { keepsFacts, type LogEvent, type StorageWithFacts } from "../storage/port.ts";
import { openSqliteStorage } from "../storage/sqlite/index.ts";
import { type RunningStore, startStore } from "./index.ts";

export const IDLE_MS = 86_400_000;

/** A virtual clock that says when somebody goes to sleep. */
class SignallingClock extends VirtualClock {
	#asleep: (() => void)[] = [];

	override setTimeout(fire: () => void, ms: number) {
		const timer = super.setTimeout(fire, ms);
		if (ms > 0) for (const resolve of this.#asleep.splice(0)) resolve();
		return timer;
	}

	/** Resolves with the next timer that is set. */
	nextSleep(): Promise<void> {
		return new Promise((resolve) => this.#asleep.push(resolve));
	}
}

/** The rules on a real database, under a clock that stands still until it is told. */
export class TestStore {
	readonly clock = new SignallingClock();
	readonly storage: StorageWithFacts;
	readonly ids: IdSource;
	store: RunningStore;
	/** What was handed to the lanes, by project, as `type` and `seq`. */
	readonly sent = new Map<string, LogEvent[]>();
	readonly #folder: string;

	private constructor(storage: StorageWithFacts, clock: SignallingClock, folder: string) {
		this.storage = storage;
		this.clock = clock;
		this.ids = new IdSource(clock);
		this.#folder = folder;
		this.store = this.startStore();
	}

	static async open(): Promise<TestStore> {
		const folder = await mkdtemp(join(tmpdir(), "posthorn-store-"));
		const clock = new SignallingClock();
		const storage = await openSqliteStorage({ path: join(folder, "test.db"), clock, leaseTermMs: 15_000 });
		if (!keepsFacts(storage)) throw new Error("The storage of these tests keeps no store facts.");
		const test = new TestStore(storage, clock, folder);
		await clock.nextSleep();
		return test;
	}

	/** Another node's rules on the same database. */
	startStore(): RunningStore {
		return startStore({
			storage: this.storage,
			engine: {
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

	/** Goes on to `at`, and lets whoever wakes on the way do his work before the next one wakes. */
	async advanceTo(at: number): Promise<void> {
		while (this.clock.nextAt !== null && this.clock.nextAt <= at) {
			const asleep = this.clock.nextSleep();
			this.clock.advanceTo(this.clock.nextAt);
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
		this.store = this.startStore();
		await asleep;
	}

	async log(projectId: string): Promise<{ type: string; createdAt: number; data: Record<string, unknown> }[]> {
		const events = await this.storage.readLog(projectId, 0, { maxEvents: 10_000, maxBytes: 1e9 });
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
		await this.store.stop();
		await this.storage.close();
		await rm(this.#folder, { recursive: true });
	}
}
