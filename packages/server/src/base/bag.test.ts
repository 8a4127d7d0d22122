import fc from "fast-check";
import { expect, test } from "vitest";
import { Bag } from "./collections.ts";

test("a bag behaves like a set", () => {
	const step = fc.record({ index: fc.nat(9), add: fc.boolean() });
	fc.assert(
		fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
			const things = Array.from({ length: 10 }, (_, name) => ({ name, bagIndex: -1 }));
			const bag = new Bag<{ name: number; bagIndex: number }>();
			const set = new Set<{ name: number; bagIndex: number }>();
			for (const { index, add } of steps) {
				const thing = things[index]!;
				if (add && !set.has(thing)) {
					bag.add(thing);
					set.add(thing);
				} else if (!add) expect(bag.delete(thing)).toBe(set.delete(thing));
				expect(bag.size).toBe(set.size);
				for (const each of things) expect(bag.has(each)).toBe(set.has(each));
				expect(new Set(bag.toArray())).toEqual(set);
			}
			expect(new Set(bag.takeAll())).toEqual(set);
			expect(bag.size).toBe(0);
			expect(things.every(({ bagIndex }) => bagIndex === -1)).toBe(true);
		}),
	);
});

test("an item in one bag is not in another", () => {
	const [one, other] = [new Bag<{ bagIndex: number }>(), new Bag<{ bagIndex: number }>()];
	const thing = { bagIndex: -1 };
	other.add({ bagIndex: -1 });
	one.add(thing);
	expect(other.has(thing)).toBe(false);
	expect(other.delete(thing)).toBe(false);
	expect(one.delete(thing)).toBe(true);
	expect(other.size).toBe(1);
});
