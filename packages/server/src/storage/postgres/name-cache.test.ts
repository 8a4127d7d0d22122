import { expect, test } from "vitest";
import { BoundedMap, MAX_NAMES } from "./name-cache.ts";

test("drops what was set longest ago, and not what was set again since", () => {
	const map = new BoundedMap<number, string>();
	for (let i = 0; i < MAX_NAMES; i++) map.set(i, "first");
	map.set(0, "again");
	map.set(MAX_NAMES, "one more");
	expect(map.size).toBe(MAX_NAMES);
	expect(map.get(0)).toBe("again");
	expect(map.has(1)).toBe(false);
	expect(map.has(2)).toBe(true);
});
