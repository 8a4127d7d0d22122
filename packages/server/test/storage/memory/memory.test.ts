import type { Clock } from "../../../src/base/clock.ts";
import type { Storage } from "../../../src/storage/port.ts";
import { describeStorage } from "../conformance/suite.ts";
import { StandingClock } from "./clock.ts";
import { MemoryDatabase, openMemoryStorage } from "./index.ts";

const LEASE_TERM_MS = 15_000;

/** Which database and clock a storage was opened with. */
const opened = new Map<Storage, { database: MemoryDatabase; clock: Pick<Clock, "now"> }>();

for (const manyNodes of [true, false]) {
	const openAt = async (database: MemoryDatabase, clock: Pick<Clock, "now">): Promise<Storage> => {
		const storage = await openMemoryStorage({ database, clock, leaseTermMs: LEASE_TERM_MS, manyNodes });
		opened.set(storage, { database, clock });
		return storage;
	};
	describeStorage({
		name: manyNodes ? "shared memory" : "memory",
		manyNodes,
		leaseTermMs: LEASE_TERM_MS,
		open: ({ clock }) => openAt(new MemoryDatabase({ clock: new StandingClock(clock) }), clock),
		reopen: async (storage) => {
			await storage.close();
			const { database, clock } = opened.get(storage)!;
			return openAt(database, clock);
		},
		dispose: (storage) => storage.close(),
	});
}
