import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describeStorage } from "../../../test/storage/conformance/suite.ts";
import type { Clock } from "../../base/clock.ts";
import type { Storage } from "../port.ts";
import { openSqliteStorage } from "./index.ts";

const LEASE_TERM_MS = 15_000;

/** Which database and clock a storage was opened with. */
const opened = new Map<Storage, { path: string; clock: Pick<Clock, "now"> }>();

async function openAt(path: string, clock: Pick<Clock, "now">): Promise<Storage> {
	const storage = await openSqliteStorage({ path, clock, leaseTermMs: LEASE_TERM_MS });
	opened.set(storage, { path, clock });
	return storage;
}

async function closed(storage: Storage): Promise<{ path: string; clock: Pick<Clock, "now"> }> {
	await storage.close();
	const how = opened.get(storage)!;
	opened.delete(storage);
	return how;
}

describeStorage({
	name: "SQLite",
	manyNodes: false,
	leaseTermMs: LEASE_TERM_MS,
	open: async ({ clock }) => openAt(join(await mkdtemp(join(tmpdir(), "posthorn-")), "posthorn.db"), clock),
	reopen: async (storage) => {
		const { path, clock } = await closed(storage);
		return openAt(path, clock);
	},
	dispose: async (storage) => {
		const { path } = await closed(storage);
		await rm(dirname(path), { recursive: true });
	},
});
