import { LEASE_TERM_MS, type RigDatabase } from "./engine-rig.ts";
import { describeEngine } from "./engine-suite.ts";
import { MemoryDatabase, openMemoryStorage } from "./storage/memory/index.ts";

for (const manyNodes of [true, false])
	describeEngine(manyNodes ? "shared memory" : "memory", manyNodes, async (): Promise<RigDatabase> => {
		let database: MemoryDatabase | null = null;
		return {
			open(clock, leaseTermMs = LEASE_TERM_MS) {
				database ??= new MemoryDatabase({ clock });
				return openMemoryStorage({ database, clock, leaseTermMs, manyNodes });
			},
			remove: async () => undefined,
		};
	});
