import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { IdSource } from "../base/ids.ts";
import type { Account, Storage } from "../storage/port.ts";
import { openSqliteStorage } from "../storage/sqlite/index.ts";
import type { NewPerson, People } from "./people.ts";

/** A real database under a clock that doesn't move. */
export interface TestStorage {
	readonly clock: VirtualClock;
	readonly ids: IdSource;
	readonly storage: Storage;
	close(): Promise<void>;
}

/** Creates an account without an invitation; `taken` if its address has one. */
export async function createAccount(
	storage: Storage,
	people: People,
	person: NewPerson,
): Promise<{ readonly kind: "created"; readonly account: Account } | { readonly kind: "taken" }> {
	const prepared = await people.prepare(person, "192.0.2.1");
	const kind = await storage.createAccount(prepared);
	return kind === "created" ? { kind, account: prepared.account } : { kind };
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
