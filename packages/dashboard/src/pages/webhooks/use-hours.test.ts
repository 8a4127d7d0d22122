import { expect, test } from "vitest";
import { EXAMPLE_ROWS } from "./example-rows.ts";
import { groupsInSight } from "./use-hours.ts";

const [example] = EXAMPLE_ROWS;
const rows = Array.from({ length: 60 }, (_, n) => ({
	webhook: { ...example!.webhook, id: `wh_${n}` },
	health: { ...example!.health!, hours: [] },
}));
const ids = (from: number, to: number) => rows.slice(from, to).map(({ webhook }) => webhook.id);

test("hours are requested for the rows in sight, in groups that scrolling doesn't change", () => {
	expect(groupsInSight(rows, { first: 0, last: 10 })).toEqual([ids(0, 25)]);
	expect(groupsInSight(rows, { first: 20, last: 30 })).toEqual([ids(0, 25), ids(25, 50)]);
	expect(groupsInSight(rows, { first: 55, last: 59 })).toEqual([ids(50, 60)]);
	expect(groupsInSight(rows, { first: 0, last: 999 }).flat()).toEqual(ids(0, 60));
	expect(groupsInSight([], { first: 0, last: 10 })).toEqual([]);
});

test("hours aren't requested for rows that have some, or whose webhook was just created", () => {
	expect(groupsInSight(EXAMPLE_ROWS, { first: 0, last: 1 })).toEqual([]);
	expect(groupsInSight([{ ...rows[0]!, health: undefined }, rows[1]!], { first: 0, last: 1 })).toEqual([["wh_1"]]);
});
