import { expect, test } from "vitest";
import { CACHED_NAMES } from "../../base/budgets.ts";
import { BoundedMap } from "./bounded-map.ts";

test("drops what was set longest ago, and not what was set again since", () => {
	const map = new BoundedMap<number, string>();
	for (let i = 0; i < CACHED_NAMES; i++) map.set(i, "first");
	map.set(1, "again");
	expect(map.size).toBe(CACHED_NAMES);
	map.set(CACHED_NAMES, "one more");
	map.set(CACHED_NAMES + 1, "and another");
	expect(map.size).toBe(CACHED_NAMES);
	expect([0, 1, 2, 3].filter((key) => map.has(key))).toEqual([1, 3]);
	expect(map.get(1)).toBe("again");
});
