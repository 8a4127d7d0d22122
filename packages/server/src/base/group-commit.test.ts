import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import fc from "fast-check";
import { expect, test } from "vitest";
import { GroupCommit } from "./group-commit.ts";

interface Item {
	readonly owner: string;
	readonly n: number;
}

const turns = async (count = 20): Promise<void> => {
	for (let i = 0; i < count; i++) await Promise.resolve();
};

/** Commits that end when the test says so; those of locked owners are rejected. */
function harness({ maxWeight = 10, patienceMs }: { maxWeight?: number; patienceMs?: number } = {}) {
	const clock = new VirtualClock();
	/** Started commits as `owner+weight`s; those that may wait for a lock begin with `apart`. */
	const begun: string[][] = [];
	const committed: Item[] = [];
	const givenUp: Item[] = [];
	const locked = new Set<string>();
	const ends: (() => void)[] = [];
	const group = new GroupCommit<Item>({
		clock,
		ownerOf: ({ owner }) => owner,
		commit: async (batch, apart) => {
			begun.push([...(apart ? ["apart"] : []), ...batch.map(({ owner, n }) => `${owner}${n}`)]);
			await new Promise<void>((resolve) => ends.push(resolve));
			committed.push(...batch.filter(({ owner }) => !locked.has(owner)));
			return batch.filter(({ owner }) => locked.has(owner));
		},
		weigh: ({ n }) => n,
		maxWeight,
		gatherMaxMs: 5,
		...(patienceMs !== undefined && { patienceMs }),
		giveUp: (items) => givenUp.push(...items),
	});
	return {
		clock,
		begun,
		committed,
		givenUp,
		locked,
		group,
		add: (owner: string, ...ns: number[]) => {
			for (const n of ns) group.add({ owner, n });
		},
		/** Ends the oldest commit after this many milliseconds. */
		async endAfter(ms: number): Promise<void> {
			if (ms > 0) clock.advance(ms);
			ends.shift()?.();
			await turns();
		},
		/** Ends the oldest commit, and lets timers that are due run. */
		async end(): Promise<void> {
			await this.endAfter(0);
			if (ends.length === 0 && clock.nextAt !== null) clock.advanceTo(clock.nextAt);
			await turns();
		},
		/** Ends commits until none is in flight. */
		async endAll(): Promise<void> {
			while (ends.length > 0) await this.end();
		},
	};
}

test("when idle, an item is committed immediately; items that arrive meanwhile share the next commit", async () => {
	const h = harness();
	h.add("a", 1);
	expect(h.begun).toEqual([["a1"]]);
	h.add("a", 2);
	h.add("b", 3);
	expect(h.begun).toHaveLength(1);
	expect(h.group.waitingWeight).toBe(5);
	await h.end();
	expect(h.begun).toEqual([["a1"], ["a2", "b3"]]);
});

test("a batch closes at its maximum weight and keeps the order; a heavier item gets its own", async () => {
	const h = harness();
	h.add("a", 1, 6, 3, 20, 2);
	await h.endAll();
	expect(h.begun).toEqual([["a1"], ["a6", "a3"], ["a20"], ["a2"]]);
});

test("draining waits for everything added, and cuts batching short", async () => {
	const h = harness({ maxWeight: 100 });
	h.add("a", 1, 2, 3);
	await h.end();
	let drained = false;
	void h.group.drain().then(() => {
		drained = true;
	});
	await turns();
	expect(drained).toBe(false);
	await h.endAll();
	expect(drained).toBe(true);
	expect(h.committed.map(({ n }) => n)).toEqual([1, 2, 3]);
});

// Batches used to be first in, first out: one project's backlog of 100 MB delayed all other events.
test("an owner waits for its turn, not for the backlog of another", async () => {
	const h = harness({ maxWeight: 16 });
	h.add("big", ...Array<number>(100).fill(4));
	h.add("small", 1);
	await h.end();
	expect(h.begun[1]).toContain("small1");
	h.add("small", 1);
	h.add("heavy", 16);
	await h.end();
	await h.end();
	await h.end();
	expect(h.begun.slice(2, 5).flat()).toEqual(expect.arrayContaining(["small1", "heavy16", "big4"]));
});

// One project's largest batches followed each other at once: everyone else's events waited for one most of the time.
test("an owner that filled a batch rests for as long as that took while others commit", async () => {
	const h = harness({ maxWeight: 16 });
	h.add("small", 1);
	await h.end();
	h.add("big", 16, 16);
	await h.endAfter(10);
	h.clock.advance(9);
	expect(h.begun).toEqual([["small1"], ["big16"]]);
	h.add("small", 2);
	await h.endAfter(0);
	expect(h.begun).toEqual([["small1"], ["big16"], ["small2"]]);
	h.clock.advance(1);
	expect(h.begun.at(-1)).toEqual(["big16"]);
	await h.endAll();
	expect(h.committed).toHaveLength(4);
	await h.group.drain();
});

test("an owner that has the commits to itself never rests", async () => {
	const h = harness({ maxWeight: 16 });
	h.add("small", 1);
	await h.end();
	h.clock.advance(2_000);
	h.add("big", 16, 16, 16);
	await h.endAfter(2_000);
	await h.endAfter(10);
	expect(h.begun.slice(1)).toEqual([["big16"], ["big16"], ["big16"]]);
});

test("a locked owner delays no other, keeps its order, and loses nothing", async () => {
	const h = harness();
	h.locked.add("a");
	h.add("a", 1);
	h.add("a", 2);
	h.add("b", 1);
	await h.end();
	// Its items commit immediately and separately, the others' alongside.
	expect(h.begun.slice(1)).toEqual([["apart", "a1", "a2"], ["b1"]]);
	h.add("b", 2);
	h.add("a", 3);
	await h.endAll();
	h.add("b", 3);
	h.locked.clear();
	await h.endAll();
	while (h.clock.nextAt !== null) {
		h.clock.advanceTo(h.clock.nextAt);
		await turns();
		await h.endAll();
	}
	expect(h.committed.filter(({ owner }) => owner === "a").map(({ n }) => n)).toEqual([1, 2, 3]);
	expect(h.committed.filter(({ owner }) => owner === "b").map(({ n }) => n)).toEqual([1, 2, 3]);
});

test("only a few of many locked owners wait for their locks at a time, and other commits continue", async () => {
	const h = harness({ maxWeight: 1_000 });
	h.add("free", 1);
	for (let i = 0; i < 100; i++) {
		h.locked.add(`l${i}`);
		h.add(`l${i}`, 1);
	}
	for (let i = 0; i < 2; i++) await h.end();
	const apart = () => h.begun.filter(([first]) => first === "apart").length;
	expect(apart()).toBe(2);
	h.add("free", 2);
	h.clock.advance(5);
	expect(h.begun).toContainEqual(["free2"]);
	expect(apart()).toBe(2);
});

test("items that wait for a lock are rejected after the owner's time limit, and later items start fresh", async () => {
	const h = harness({ patienceMs: 1_000 });
	h.locked.add("a");
	h.add("a", 1, 2);
	const until = h.clock.elapsed() + 1_000;
	while (h.clock.elapsed() < until) {
		await h.endAll();
		h.clock.advanceTo(h.clock.nextAt ?? until);
		await turns();
	}
	await h.endAll();
	// No later, however often it was retried meanwhile.
	expect(h.clock.elapsed()).toBe(until);
	expect(h.givenUp.map(({ n }) => n)).toEqual([1, 2]);
	await h.group.drain();
	h.locked.clear();
	h.add("a", 3);
	await h.endAll();
	expect(h.committed.map(({ n }) => n)).toEqual([3]);
});

test("at the end, locked owners are rejected when the time limit passes, as are any found locked later", async () => {
	const h = harness();
	h.locked.add("a");
	h.add("a", 1);
	for (let i = 0; i < 5; i++) await h.end();
	h.group.end(1_000);
	const until = h.clock.elapsed() + 1_000;
	while (h.clock.elapsed() < until) {
		expect(h.givenUp).toEqual([]);
		await h.end();
		if (h.clock.nextAt !== null) h.clock.advanceTo(Math.min(h.clock.nextAt, until));
		await turns();
	}
	await h.endAll();
	expect(h.givenUp.map(({ n }) => n)).toEqual([1]);
	h.add("a", 2);
	h.add("b", 3);
	await h.endAll();
	expect(h.givenUp.map(({ n }) => n)).toEqual([1, 2]);
	expect(h.committed.map(({ n }) => n)).toEqual([3]);
	await h.group.drain();
});

test("for any sequence of additions and locks, each owner's items are committed once and in order", async () => {
	const step = fc.oneof(
		fc.record({ add: fc.constantFrom("a", "b", "c"), weight: fc.integer({ min: 1, max: 25 }) }),
		fc.record({ toggle: fc.constantFrom("a", "b") }),
		fc.constant({ end: true }),
	);
	await fc.assert(
		fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), async (steps) => {
			const clock = new VirtualClock();
			const committed: { owner: string; no: number }[] = [];
			const locked = new Set<string>();
			const ends: (() => void)[] = [];
			const group = new GroupCommit<{ owner: string; no: number; weight: number }>({
				clock,
				ownerOf: ({ owner }) => owner,
				commit: async (batch) => {
					await new Promise<void>((resolve) => ends.push(resolve));
					const held = new Set(locked);
					committed.push(...batch.filter(({ owner }) => !held.has(owner)));
					return batch.filter(({ owner }) => held.has(owner));
				},
				weigh: ({ weight }) => weight,
				maxWeight: 20,
				gatherMaxMs: 5,
				giveUp: () => expect.unreachable(),
			});
			const added = { a: 0, b: 0, c: 0 };
			const goOn = async () => {
				ends.shift()?.();
				await turns(8);
				if (ends.length === 0 && clock.nextAt !== null) clock.advanceTo(clock.nextAt);
				await turns(8);
			};
			for (const one of steps) {
				if ("add" in one) {
					const owner = one.add as keyof typeof added;
					group.add({ owner, no: added[owner]++, weight: one.weight });
				} else if ("toggle" in one) {
					if (!locked.delete(one.toggle)) locked.add(one.toggle);
				} else await goOn();
			}
			locked.clear();
			let drained = false;
			void group.drain().then(() => {
				drained = true;
			});
			while (!drained) await goOn();
			for (const [owner, count] of Object.entries(added)) {
				const numbers = committed.filter((item) => item.owner === owner).map(({ no }) => no);
				expect(numbers).toEqual(Array.from({ length: count }, (_, i) => i));
			}
			expect(group.waitingWeight).toBe(0);
		}),
	);
});
