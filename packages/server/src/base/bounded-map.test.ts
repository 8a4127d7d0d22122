import { expect, test } from "vitest";
import { BoundedMap } from "./collections.ts";

test("drops what was set longest ago, and not what was set again since", () => {
	const capacity = 10;
	const map = new BoundedMap<number, string>(capacity);
	for (let i = 0; i < capacity; i++) map.set(i, "first");
	map.set(1, "again");
	expect(map.size).toBe(capacity);
	map.set(capacity, "one more");
	map.set(capacity + 1, "and another");
	expect(map.size).toBe(capacity);
	expect([0, 1, 2, 3].filter((key) => map.has(key))).toEqual([1, 3]);
	expect(map.get(1)).toBe("again");
});
