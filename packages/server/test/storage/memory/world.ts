import type { Clock } from "../../../src/base/clock.ts";
import type { DatabaseObserver, Storage } from "../../../src/storage/port.ts";
import { type TestClock, World } from "../conformance/world.ts";
import { StandingClock } from "./clock.ts";
import { MemoryDatabase, openMemoryStorage } from "./index.ts";

/** Milliseconds. */
export const LEASE_TERM_MS = 15_000;

/** A database with one node, and the suite's verbs on it. More nodes can be opened. */
export class MemoryWorld {
	readonly database: MemoryDatabase;
	/** Fires the timers of the database's clock. */
	readonly timers: StandingClock;
	readonly clock: TestClock;
	readonly world: World;

	private constructor(database: MemoryDatabase, timers: StandingClock, world: World) {
		this.database = database;
		this.timers = timers;
		this.clock = world.clock;
		this.world = world;
	}

	static async open(observer: DatabaseObserver = {}): Promise<MemoryWorld> {
		const made: { database?: MemoryDatabase; timers?: StandingClock } = {};
		const world = await World.open({
			name: "memory",
			manyNodes: true,
			leaseTermMs: LEASE_TERM_MS,
			open({ clock }) {
				made.timers = new StandingClock(clock);
				made.database = new MemoryDatabase({ clock: made.timers });
				return openMemoryStorage({ database: made.database, clock, leaseTermMs: LEASE_TERM_MS, observer });
			},
			reopen: () => Promise.reject(new Error("This world can't be reopened.")),
			dispose: (storage) => storage.close(),
		});
		return new MemoryWorld(made.database!, made.timers!, world);
	}

	get storage(): Storage {
		return this.world.storage;
	}

	/** Opens another node. */
	node(clock: Pick<Clock, "now"> = this.clock): Promise<Storage> {
		return openMemoryStorage({ database: this.database, clock, leaseTermMs: LEASE_TERM_MS });
	}
}
