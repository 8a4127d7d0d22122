import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { IdSource } from "../base/ids.ts";
import type { Storage } from "../storage/port.ts";
import { openSqliteStorage } from "../storage/sqlite/index.ts";

/** A real database under a clock that doesn't move. */
export interface TestStorage {
	readonly clock: VirtualClock;
	readonly ids: IdSource;
	readonly storage: Storage;
	close(): Promise<void>;
}

export async function openTestStorage(): Promise<TestStorage> {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-accounts-"));
	const clock = new VirtualClock();
	const storage = await openSqliteStorage({ path: join(folder, "test.db"), clock, leaseTermMs: 15_000 });
	return {
		clock,
		ids: new IdSource(clock),
		storage,
		async close() {
			await storage.close();
			rmSync(folder, { recursive: true });
		},
	};
}
