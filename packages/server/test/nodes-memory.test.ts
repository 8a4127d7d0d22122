import { LEASE_TERM_MS } from "./engine-rig.ts";
import { describeNodes } from "./nodes-suite.ts";
import { MemoryDatabase, openMemoryStorage } from "./storage/memory/index.ts";

describeNodes("storage in memory", async () => {
	let database: MemoryDatabase | null = null;
	return {
		open(clock) {
			database ??= new MemoryDatabase({ clock });
			return openMemoryStorage({ database, clock, leaseTermMs: LEASE_TERM_MS });
		},
		remove: async () => undefined,
	};
});
