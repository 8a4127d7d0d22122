import { encodeEnvelope } from "@posthorn/protocol";
import type { Clock } from "../src/base/clock.ts";
import { IdSource } from "../src/base/ids.ts";
import { LEASE_TERM_MS } from "./engine-rig.ts";
import { describeFailover } from "./failover-suite.ts";
import { MemoryDatabase, openMemoryStorage, type Snapshot } from "./storage/memory/index.ts";

describeFailover("storage in memory", async () => {
	let database: MemoryDatabase;
	let clock: Clock;
	/** The standby's state, once replication has stopped. */
	let standby: Snapshot | null = null;
	const open = (by: Clock) => openMemoryStorage({ database, clock: by, leaseTermMs: LEASE_TERM_MS });
	return {
		open(given) {
			clock = given;
			database = new MemoryDatabase({ clock });
			return open(clock);
		},
		caughtUp: async () => undefined,
		async cutOff() {
			standby = database.snapshot();
		},
		async fail() {
			if (standby) database.restore(standby);
			else database.failOver();
		},
		async publish(projectId, count, type) {
			const storage = await open(clock);
			const ids = new IdSource(clock);
			const events = Array.from({ length: count }, () => {
				const [id, createdAt] = [ids.next("event"), clock.now()];
				const body = encodeEnvelope({ id, type, createdAt, projectId, data: "{}" });
				return { id, type, createdAt, createdAtGiven: false, body };
			});
			await storage.appendEvents({ requests: [{ projectId, publishedAt: clock.now(), events }] });
			await storage.close();
			return events.map(({ id }) => id);
		},
		[Symbol.asyncDispose]: async () => undefined,
	};
});
