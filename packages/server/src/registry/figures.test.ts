import { expect, test } from "vitest";
import type { AttemptSummary, Stats } from "../storage/port.ts";
import { FIGURES, readFigures } from "./figures.ts";

const TIMEOUT_MS = 10_000;
const NONE = { events: 0, delivered: 0, retrying: 0, failed: 0, closed: 0, p50Ms: null, p95Ms: null };
const QUERY = { since: 0, until: 120_000, stepMs: 60_000 };

type Times = readonly [at: number, ms: number][];

/** The percentiles of the buckets and of all, if the histogram says `counted` for those that have attempts. */
async function percentiles(counted: number, logged: Times, more: Partial<Parameters<typeof read>[2]> = {}) {
	const { buckets, total } = await read(counted, logged, { count: logged.length, fromLog: true, tests: 0, ...more });
	return [...buckets, total].map(({ p50Ms, p95Ms }) => [p50Ms, p95Ms]);
}

function read(counted: number, logged: Times, of: { count: number; fromLog: boolean; tests: number }): Promise<Stats> {
	const counts = (delivered: number) =>
		delivered === 0 ? NONE : { ...NONE, delivered, p50Ms: counted / 2, p95Ms: counted };
	const within = (from: number) => logged.filter(([at]) => at >= from && at < from + QUERY.stepMs).length;
	const stats = {
		buckets: [0, 60_000].map((at) => ({ at, ...counts(within(at)) })),
		total: counts(of.count),
	};
	const rows = [
		...logged.map(([startedAt, responseMs], i) => ({ seq: i + 1, startedAt, responseMs })),
		...Array.from({ length: of.tests }, (_, i) => ({ seq: -1 - i, startedAt: 1, responseMs: 90_000 })),
	];
	const storage = {
		readStats: async () => stats,
		listAttemptSummaries: async ({ page: { limit = 50 } }: { page: { limit?: number } }) => ({
			rows: rows.slice(0, limit) as unknown as AttemptSummary[],
			next: rows.length > limit ? "next" : null,
		}),
	};
	return readFigures(storage, { projectId: "proj_1", query: QUERY }, { timeoutMs: TIMEOUT_MS, fromLog: of.fromLog });
}

// A webhook whose only response took 8 ms answered 95% within 8.5 ms.
test("of few attempts, no percentile is above the slowest one in the log", async () => {
	expect(await percentiles(8.5, [[60_001, 8]])).toEqual([[null, null], ...Array(2).fill([4.25, 8])]);
	const both: Times = [
		[1, 8],
		[60_001, 9],
	];
	expect(await percentiles(8.5, both)).toEqual([
		[4.25, 8],
		[4.25, 8.5],
		[4.25, 8.5],
	]);
	expect(await percentiles(8.5, both, { tests: 3 })).toEqual([
		[4.25, 8],
		[4.25, 8.5],
		[4.25, 8.5],
	]);
});

test("unless the log isn't looked at, has more attempts, or has lost some", async () => {
	const shown = [[null, null], ...Array(2).fill([4.25, 8.5])];
	expect(await percentiles(8.5, [[60_001, 8]], { fromLog: false })).toEqual(shown);
	expect(await percentiles(8.5, [[60_001, 8]], { count: 2 })).toEqual(shown);
	expect(await percentiles(8.5, [[60_001, 8]], { tests: FIGURES.few })).toEqual(shown);
	const many: Times = Array.from({ length: FIGURES.few + 1 }, (_, i) => [60_000 + i, 8]);
	expect(await percentiles(8.5, many)).toEqual(shown);
});

// With a timeout of 10 s, "95% answered within" could be 11 s.
test("of many, none is above the timeout, unless attempts have taken longer than it is now", async () => {
	for (const [counted, shown] of [
		[10_623, 10_000],
		[9_900, 9_900],
		[12_634, 12_634],
	] as const) {
		const [, bucket, total] = await percentiles(counted, [[60_001, 1]], { fromLog: false });
		expect([bucket, total]).toEqual(Array(2).fill([counted / 2, shown]));
	}
});
