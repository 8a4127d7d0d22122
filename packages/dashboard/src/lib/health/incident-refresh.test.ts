import { expect, it } from "vitest";
import { type Marks, marksOf, refreshOf } from "./incident-refresh.ts";

const deliveries = { count: 6, capped: false, delivered: 0, waiting: 6, failed: 0, dismissed: 0 };
const ONGOING = [{ webhook_id: "wh_1", state: "ongoing" as const, deliveries }];

const FAILING = {
	...{ webhook_id: "wh_1", state: "failing" as const, dead_letters: 0 },
	failing_since: { status_code: 500, error_code: null, started_at: "2026-11-21T14:02:11.123Z" },
	waiting: { count: 6, tests: 0, next_at: null },
};

const marks = (health: object, incidents: Parameters<typeof marksOf>[1] = ONGOING) =>
	marksOf([{ ...FAILING, ...health }], incidents);

const refreshIn = (before: Marks | null, after: Marks | null, age: number) => refreshOf(before, after, age, false).wait;

it("requests incidents immediately if their words may have changed", () => {
	for (const health of [{ state: "unstable" }, { failing_since: null }, { waiting: { count: 0 } }, { dead_letters: 1 }])
		expect(refreshIn(marks({}), marks(health), 1_000)).toBe(0);
	expect(refreshIn(marks({}), marks({}), 1_000)).toBeNull();
	expect(refreshIn(marksOf(undefined, []), marks({}), 1_000)).toBeNull();
});

// "6 deliveries held up" was next to "30 deliveries wait" for up to half a minute.
it("requests open incidents within 5 seconds if only numbers have changed", () => {
	const more = { waiting: { count: 30 } };
	expect(refreshIn(marks({}), marks(more), 1_000)).toBe(4_000);
	expect(refreshIn(marks({}), marks(more), 20_000)).toBe(0);
	const isOver = (waiting: number) => [
		{ ...ONGOING[0]!, state: "over" as const, deliveries: { ...deliveries, waiting } },
	];
	expect(refreshIn(marks({}, isOver(6)), marks(more, isOver(6)), 20_000)).toBe(0);
	expect(refreshIn(marks({}, isOver(0)), marks(more, isOver(0)), 20_000)).toBeNull();
});

// While health changed faster than incidents could be loaded, each change cancelled the request and started another.
it.each([
	["numbers", { waiting: { count: 30 } }, 5_000],
	["words", { dead_letters: 1 }, 0],
])("doesn't start a request over if %s have changed, but compares them once it has ended", (_, health, wait) => {
	const [shown, changed] = [marks({}), marks(health)];
	const held = refreshOf(shown, changed, 20_000, true);
	expect(held).toEqual({ marks: shown, wait: null });
	expect(refreshOf(held.marks, changed, 0, false)).toEqual({ marks: changed, wait });
});
