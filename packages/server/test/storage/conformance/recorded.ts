import type { Clock } from "../../../src/base/clock.ts";
import type { Storage } from "../../../src/storage/port.ts";
import { StandingClock } from "../memory/clock.ts";
import { MemoryDatabase, openMemoryStorage } from "../memory/index.ts";
import type { StorageHarness } from "./harness.ts";

const LEASE_TERM_MS = 15_000;

interface Call {
	readonly at: number;
	readonly verb: keyof Storage;
	readonly p: unknown;
}

/**
 * Parts of the suite, run on storage in memory with their calls recorded, so that tests of statements examine every verb
 * that the suite calls: its calls are repeated on a real database. Create it before the tests that repeat them, which run
 * after the suite's own.
 */
export class RecordedSuite {
	readonly #calls: Call[] = [];

	constructor(...parts: readonly ((harness: StorageHarness) => void)[]) {
		const opened = new Map<Storage, [MemoryDatabase, Pick<Clock, "now">]>();
		const open = async (database: MemoryDatabase, clock: Pick<Clock, "now">): Promise<Storage> => {
			const storage = this.#record(await openMemoryStorage({ database, clock, leaseTermMs: LEASE_TERM_MS }), clock);
			opened.set(storage, [database, clock]);
			return storage;
		};
		const harness: StorageHarness = {
			name: "memory",
			manyNodes: true,
			leaseTermMs: LEASE_TERM_MS,
			open: ({ clock }) => open(new MemoryDatabase({ clock: new StandingClock(clock) }), clock),
			reopen: async (storage) => {
				await storage.close();
				return open(...opened.get(storage)!);
			},
			dispose: (storage) => storage.close(),
		};
		for (const part of parts) part(harness);
	}

	get called(): ReadonlySet<string> {
		return new Set(this.#calls.map(({ verb }) => verb));
	}

	/** Repeats the calls, in order. What they return may differ, because the database may have other content. */
	async repeat(call: (verb: never, p: never, at: number) => unknown): Promise<void> {
		for (const { verb, p, at } of this.#calls) {
			try {
				await call(verb as never, p as never, at);
			} catch {
				// Such as a row that refers to one which already existed under another id.
			}
		}
	}

	#record(storage: Storage, clock: Pick<Clock, "now">): Storage {
		return new Proxy(storage, {
			get: (_, key) => {
				const value: unknown = Reflect.get(storage, key, storage);
				if (typeof value !== "function" || key === "close") return value;
				return (p: unknown) => {
					this.#calls.push({ at: clock.now(), verb: key as keyof Storage, p });
					return value.call(storage, p);
				};
			},
		});
	}
}
