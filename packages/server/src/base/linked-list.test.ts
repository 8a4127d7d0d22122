import fc from "fast-check";
import { expect, test } from "vitest";
import { type Linked, LinkedList } from "./collections.ts";

interface Item extends Linked<Item> {
	readonly name: number;
}

test("a linked list keeps the order in which items were added, and holds on to none that was removed", () => {
	const step = fc.record({ index: fc.nat(9), add: fc.boolean() });
	fc.assert(
		fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
			const items = Array.from({ length: 10 }, (_, name): Item => ({ name, previous: null, next: null }));
			const list = new LinkedList<Item>();
			// A set keeps that order, too.
			const set = new Set<Item>();
			for (const { index, add } of steps) {
				const item = items[index]!;
				if (add && !set.has(item)) {
					list.add(item);
					set.add(item);
				} else if (!add) {
					list.remove(item);
					set.delete(item);
				}
				const listed: Item[] = [];
				for (let at = list.first; at !== null; at = at.next) listed.push(at);
				expect(listed.map(({ name }) => name)).toEqual([...set].map(({ name }) => name));
				for (const { previous, next } of items.filter((each) => !set.has(each)))
					expect([previous, next]).toEqual([null, null]);
			}
		}),
	);
});
