import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, test, vi } from "vitest";
import { until } from "../../../../../testkit/src/until.ts";
import { systemClock } from "../../../base/clock.ts";
import { openSqliteStorage } from "../index.ts";
import { checkpointBeside, PAGES } from "./checkpointer.ts";

const folder = mkdtempSync(join(tmpdir(), "posthorn-checkpointer-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

// The commit that reached the log's limit once moved all 64 MB of it, while everyone waited.
test("the log is checkpointed alongside the writer, before it reaches its limit", async () => {
	const path = join(folder, "test.db");
	const storage = await openSqliteStorage({ path, clock: systemClock, leaseTermMs: 15_000 });
	const watching = new DatabaseSync(path);
	try {
		const id = "prj_0000000000000000000000000";
		await storage.createProject({ id, name: "p", apps: [], createdAt: 1 });
		const state = watching.prepare("PRAGMA wal_checkpoint(NOOP)");
		let log = 0;
		for (let n = 0; n < 60 && log <= PAGES; n++) {
			const events = [0, 1, 2, 3].map((i) => ({
				id: `evt_${n}_${i}`,
				type: "delivery.success",
				createdAt: 1,
				createdAtGiven: false,
				body: new Uint8Array(256 * 1_024),
			}));
			await storage.appendEvents({ requests: [{ projectId: id, publishedAt: 1, events }] });
			({ log } = state.get() as { log: number });
		}
		expect(log).toBeGreaterThan(PAGES);
		expect(log).toBeLessThan(8_000);
		await until("these pages to be moved", () => (state.get() as { checkpointed: number }).checkpointed >= PAGES);
	} finally {
		watching.close();
		await storage.close();
	}
});

test("a full disk stops nothing: checkpointing is retried later", () => {
	vi.useFakeTimers();
	const exec = vi.fn(() => {
		throw new Error("database or disk is full");
	});
	const prepare = () => ({ get: () => ({ busy: 0, log: 5_000, checkpointed: 0 }) });
	const end = checkpointBeside({ prepare, exec } as unknown as DatabaseSync);
	try {
		vi.advanceTimersByTime(1_000);
		expect(exec).toHaveBeenCalledTimes(1);
		vi.advanceTimersByTime(5_000);
		expect(exec).toHaveBeenCalledTimes(2);
		end();
		expect(vi.getTimerCount()).toBe(0);
	} finally {
		vi.useRealTimers();
	}
});
