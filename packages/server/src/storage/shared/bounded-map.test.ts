import { expect, test } from "vitest";
import { CACHED_NAMES } from "../../base/budgets.ts";
import { BoundedMap } from "./bounded-map.ts";

test("drops what was set longest ago, and not what was set again since", () => {
	const map = new BoundedMap<number, string>();
	for (let i = 0; i < CACHED_NAMES; i++) map.set(i, "first");
	map.set(0, "again");
	map.set(CACHED_NAMES, "one more");
	expect(map.size).toBe(CACHED_NAMES);
	expect(map.get(0)).toBe("again");
	expect(map.has(1)).toBe(false);
	expect(map.has(2)).toBe(true);
});
