import fc from "fast-check";
import { expect, test } from "vitest";
import { OrderedSet } from "./ordered.ts";
import { PartitionedSet } from "./partitions.ts";

interface Row {
	readonly part: number;
	readonly key: number;
	/** The index only holds rows with an even value. */
	readonly tag: number;
}

const row = fc.record({
	part: fc.integer({ min: 0, max: 2 }),
	// Enough for several chunks.
	key: fc.integer({ min: 0, max: 1_000 }),
	tag: fc.integer({ min: 0, max: 3 }),
});
const isEven = ({ tag }: Row): boolean => tag % 2 === 0;
const sameKey = (a: Row, b: Row): boolean => a.part === b.part && a.key === b.key;

const SETS = {
	ordered: () => new OrderedSet<Row>((a, b) => a.part - b.part || a.key - b.key, isEven),
	partitioned: () =>
		new PartitionedSet<Row>(
			({ part }) => part,
			(a, b) => a.key - b.key,
			isEven,
		),
};

test.for(Object.entries(SETS))("%s: any changes give the same rows as a sorted list", ([, make]) => {
	fc.assert(
		fc.property(fc.array(row, { maxLength: 1_500, size: "max" }), fc.array(row, { maxLength: 20 }), (changes, keys) => {
			const set = make();
			let rows: Row[] = [];
			for (const change of changes) {
				const there = rows.find((each) => sameKey(each, change));
				if (there === undefined) set.add(change);
				else if (change.tag === 1) set.remove(there);
				else set.replace(there, change);
				if (there !== undefined) rows = rows.filter((each) => each !== there);
				if (there === undefined || change.tag !== 1) rows.push(change);
			}
			const sorted = rows.filter(isEven).sort((a, b) => a.part - b.part || a.key - b.key);
			for (const from of keys) {
				const to = { ...from, key: from.key + 400 };
				const wanted = sorted.filter(({ part, key }) => part === from.part && key >= from.key && key < to.key);
				expect([...set.ascending(from, to)]).toEqual(wanted);
				expect([...set.descending(from, to)]).toEqual(wanted.toReversed());
				expect(set.first(from, to)).toBe(wanted[0]);
				expect(set.last(from, to)).toBe(wanted.at(-1));
				expect(set.get(from)).toBe(sorted.find((each) => sameKey(each, from)));
			}
		}),
		{ numRuns: 60 },
	);
});
