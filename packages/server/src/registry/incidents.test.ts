import { expect, test } from "vitest";
import { incidentsOf, type StepCounts } from "./incidents.ts";

const MINUTE = 60_000;

/** Minutes by their counts, from 0: `d` delivered and `f` failed. */
const minutes = (...counts: readonly (readonly [d: number, f: number])[]): StepCounts[] =>
	counts.map(([delivered, failed], i) => ({ at: i * MINUTE, delivered, failed }));

const GOOD = [9, 0] as const;
const QUIET = [0, 0] as const;
const BAD = [0, 9] as const;

test("from the first minute in which most attempts fail to the last", () => {
	const steps = minutes(GOOD, GOOD, [2, 7], BAD, QUIET, BAD, GOOD, GOOD);
	expect(incidentsOf(steps)).toEqual([
		{ from: 2 * MINUTE, until: 6 * MINUTE, isOngoing: false, failed: 25, delivered: 2 },
	]);
	expect(incidentsOf(minutes(GOOD, [9, 8], [5, 5]))).toEqual([]);
	expect(incidentsOf([])).toEqual([]);
});

// It began a minute later than the webhook's failures: "Returning 500 since 13:57", but an incident "Since 13:58".
test("it covers the failures of the minute in which the receiver breaks down", () => {
	const breaking = [9, 4] as const;
	expect(incidentsOf(minutes(GOOD, breaking, BAD, BAD, GOOD))).toEqual([
		{ from: MINUTE, until: 4 * MINUTE, isOngoing: false, failed: 22, delivered: 9 },
	]);
	// An earlier failure isn't part of it.
	expect(incidentsOf(minutes(breaking, breaking, BAD))).toMatchObject([{ from: MINUTE, failed: 13 }]);
	expect(incidentsOf(minutes(breaking, GOOD, BAD))).toMatchObject([{ from: 2 * MINUTE, failed: 9 }]);
	expect(incidentsOf(minutes(breaking, QUIET, BAD).filter((_, i) => i !== 1))).toMatchObject([{ from: 2 * MINUTE }]);
	// Few failures don't become an outage by it.
	expect(incidentsOf(minutes(breaking, [0, 2], GOOD))).toEqual([]);
});

// It ended with the minute before, so the log showed failures that weren't in it.
test("it covers the failures of the minute in which the receiver recovers", () => {
	const recovering = [9, 4] as const;
	expect(incidentsOf(minutes(GOOD, BAD, BAD, recovering, GOOD))).toEqual([
		{ from: MINUTE, until: 4 * MINUTE, isOngoing: false, failed: 22, delivered: 9 },
	]);
	// A later failure isn't part of it, unless most attempts fail again.
	expect(incidentsOf(minutes(GOOD, BAD, recovering, recovering))).toMatchObject([{ until: 3 * MINUTE, failed: 13 }]);
	expect(incidentsOf(minutes(GOOD, BAD, GOOD, recovering))).toMatchObject([{ until: 2 * MINUTE, failed: 9 }]);
	expect(incidentsOf(minutes(GOOD, BAD, recovering, BAD, BAD))).toMatchObject([
		{ from: MINUTE, until: 5 * MINUTE, failed: 31, delivered: 9 },
	]);
	// Few failures don't become an outage by it.
	expect(incidentsOf(minutes(GOOD, [0, 2], recovering))).toEqual([]);
});

test("it is ongoing until something is delivered", () => {
	expect(incidentsOf(minutes(GOOD, BAD))[0]!.isOngoing).toBe(true);
	expect(incidentsOf(minutes(GOOD, BAD, QUIET, QUIET))[0]!.isOngoing).toBe(true);
	expect(incidentsOf(minutes(GOOD, BAD, QUIET, [1, 1]))[0]!.isOngoing).toBe(false);
});

test("it lasts through any silence, and through five good minutes", () => {
	const silence = Array.from({ length: 300 }, () => QUIET);
	expect(incidentsOf(minutes(BAD, ...silence, BAD))).toMatchObject([{ from: 0, until: 302 * MINUTE, failed: 18 }]);
	const good = (count: number) => Array.from({ length: count }, () => [1, 0] as const);
	expect(incidentsOf(minutes(BAD, ...good(5), BAD))).toMatchObject([{ from: 0, until: 7 * MINUTE, delivered: 5 }]);
	expect(incidentsOf(minutes(BAD, ...good(6), BAD))).toMatchObject([
		{ from: 0, until: MINUTE, isOngoing: false, delivered: 0 },
		{ from: 7 * MINUTE, until: 8 * MINUTE, isOngoing: true },
	]);
});

test("a receiver that fails now and then has no incidents", () => {
	const now = Array.from({ length: 60 }, (_, i) => (i % 4 === 0 ? ([0, 1] as const) : ([1, 0] as const)));
	expect(incidentsOf(minutes(...now))).toEqual([]);
	// Most attempts since the first bad minute fail, though not in every minute.
	const mostly = Array.from({ length: 12 }, (_, i) => (i % 4 === 1 ? ([1, 0] as const) : ([0, 2] as const)));
	expect(incidentsOf(minutes(...mostly))).toMatchObject([{ from: 0, until: 12 * MINUTE, failed: 18, delivered: 3 }]);
});

test("fewer than three failed attempts aren't an incident", () => {
	expect(incidentsOf(minutes([0, 1], QUIET, [0, 1], GOOD))).toEqual([]);
	expect(incidentsOf(minutes([0, 1], QUIET, [0, 1], [0, 1], GOOD))).toMatchObject([{ failed: 3 }]);
});

// Both counted the failures of the minute between them.
test("each failure belongs to one incident only, the minute between two to the earlier one", () => {
	const gap = (...between: readonly (readonly [number, number])[]) =>
		incidentsOf(minutes(GOOD, BAD, ...between, BAD)).map(({ from, until }) => [from / MINUTE, until / MINUTE]);
	expect(gap([30, 3])).toEqual([
		[1, 3],
		[3, 4],
	]);
	expect(gap([30, 3], [30, 3])).toEqual([
		[1, 3],
		[3, 5],
	]);
	expect(gap([30, 3], GOOD)).toEqual([
		[1, 3],
		[4, 5],
	]);
	// Too few failures for an incident take none from the next one.
	expect(incidentsOf(minutes([0, 1], [30, 3], BAD))).toMatchObject([{ from: MINUTE, failed: 12 }]);
});
