import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, test, vi } from "vitest";
import { until } from "../../../../../testkit/src/until.ts";
import { systemClock } from "../../../base/clock.ts";
import { openSqliteStorage } from "../index.ts";
import { checkpointBeside, HELD_BYTES, LOG_BYTES, NEW_BYTES } from "./checkpointer.ts";

/** The size of a new file's pages, bytes. */
const PAGE = 4_096;
const pagesOf = (pageBytes: number) => [LOG_BYTES / pageBytes, NEW_BYTES / pageBytes] as const;
const [PAGES, NEW_PAGES] = pagesOf(PAGE);

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
		const size = watching.prepare("SELECT page_count AS pages FROM pragma_page_count");
		for (let n = 0; n < 60 && (size.get() as { pages: number }).pages < NEW_PAGES; n++) {
			const events = [0, 1, 2, 3].map((i) => ({
				id: `evt_${n}_${i}`,
				type: "delivery.success",
				createdAt: 1,
				createdAtGiven: false,
				body: new Uint8Array(256 * 1_024),
			}));
			await storage.appendEvents({ requests: [{ projectId: id, publishedAt: 1, events }] });
		}
		expect((state.get() as { log: number }).log).toBeLessThan(PAGES);
		await until("these pages to be moved", () => (state.get() as { checkpointed: number }).checkpointed > 0);
	} finally {
		watching.close();
		await storage.close();
	}
});

/** A checkpointer on a database whose log and file have these sizes, in pages. */
function beside(sizes: { log: number; pages: number }, exec: () => void, pageBytes = PAGE) {
	const prepare = () => ({ get: () => ({ page_size: pageBytes, busy: 0, checkpointed: 0, ...sizes }) });
	return checkpointBeside({ prepare, exec } as unknown as DatabaseSync);
}

// Files of earlier versions have pages of 8 KiB.
test.each([PAGE, 2 * PAGE])(
	"pages of %i bytes that were written again and again are moved when there are many, new ones sooner",
	(pageBytes) => {
		vi.useFakeTimers();
		const [PAGES, NEW_PAGES] = pagesOf(pageBytes);
		const sizes = { log: 0, pages: NEW_PAGES - 1 };
		const exec = vi.fn();
		const end = beside(sizes, exec, pageBytes);
		const countAt = (log: number, pages: number) => {
			Object.assign(sizes, { log, pages });
			exec.mockClear();
			vi.advanceTimersByTime(50);
			return exec.mock.calls.length;
		};
		try {
			expect(countAt(PAGES - 1, NEW_PAGES - 1)).toBe(0);
			expect(countAt(PAGES, NEW_PAGES - 1)).toBe(1);
			expect(countAt(10, 2 * NEW_PAGES - 2)).toBe(0);
			expect(countAt(10, 2 * NEW_PAGES - 1)).toBe(1);
			expect(countAt(0, 4 * NEW_PAGES)).toBe(0);
			// After VACUUM the file is smaller.
			expect(countAt(10, 5)).toBe(0);
		} finally {
			end();
			vi.useRealTimers();
		}
	},
);

test("a full disk stops nothing: checkpointing is retried later", () => {
	vi.useFakeTimers();
	const exec = vi.fn(() => {
		throw new Error("database or disk is full");
	});
	const end = beside({ log: 10_000, pages: 10_000 }, exec);
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

// The log grew until the disk was full, and nothing said why.
test("a log that another program's transaction holds is named, once for each time", () => {
	vi.useFakeTimers();
	const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
	const sizes = { log: 0, pages: 0 };
	const end = beside(sizes, vi.fn());
	const warningsAt = (log: number) => {
		sizes.log = log;
		emit.mockClear();
		vi.advanceTimersByTime(100);
		return emit.mock.calls.map(([text]) => text);
	};
	try {
		expect(warningsAt(HELD_BYTES / PAGE - 1)).toEqual([]);
		expect(warningsAt(HELD_BYTES / PAGE)).toEqual([expect.stringContaining("has grown to 256 MB")]);
		expect(warningsAt(HELD_BYTES / PAGE + 1)).toEqual([]);
		expect(warningsAt(0)).toEqual([]);
		expect(warningsAt(HELD_BYTES / PAGE)).toHaveLength(1);
	} finally {
		end();
		emit.mockRestore();
		vi.useRealTimers();
	}
});
