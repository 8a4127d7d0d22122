import { expect, test } from "vitest";
import { RateLimit } from "./throttle.ts";

const own = (wait: number) => ({ whose: "own", wait });
const node = (wait: number) => ({ whose: "node", wait });

test("a later charge must be refilled before more is available", () => {
	let now = 0;
	const limit = new RateLimit({ burst: 3, perMinute: 6 }, { elapsed: () => now });
	expect(limit.take("a")).toBeNull();
	limit.charge("a", 5);
	expect(limit.take("a")).toEqual(own(40));
	expect(limit.take("b")).toBeNull();
	now += 40_000;
	expect([limit.take("a"), limit.take("a")]).toEqual([null, own(10)]);
});

test("gives each owner its burst, then its rate, and says when to retry", () => {
	let now = 5_000;
	const limit = new RateLimit({ burst: 3, perMinute: 6 }, { elapsed: () => now });
	expect([1, 2, 3].map(() => limit.take("a"))).toEqual([null, null, null]);
	expect(limit.take("a")).toEqual(own(10));
	expect(limit.take("b")).toBeNull();
	now += 9_500;
	expect(limit.take("a")).toEqual(own(1));
	now += 500;
	expect([limit.take("a"), limit.take("a")]).toEqual([null, own(10)]);
	now += 3_600_000;
	expect([1, 2, 3, 4].map(() => limit.take("a"))).toEqual([null, null, null, own(10)]);
	expect(limit.refusals).toBe(4);
});

test("all owners share the node's rate, and each leaves as much of it to the others as it uses", () => {
	let now = 0;
	const limit = new RateLimit(
		{ burst: 10, perMinute: 60, node: { burst: 12, perMinute: 120 } },
		{ elapsed: () => now },
	);
	const taken = (owner: string): number => {
		for (let count = 0; ; count++) if (limit.take(owner) !== null) return count;
	};
	expect(["a", "b", "c", "d", "e"].map(taken)).toEqual([6, 3, 2, 1, 0]);
	expect(limit.take("e")).toEqual(node(1));
	now += 500;
	expect([limit.take("a"), limit.take("e"), limit.take("f")]).toEqual([node(3), null, node(1)]);
});

test("a token can be given back, to its owner and to the node", () => {
	const limit = new RateLimit({ burst: 1, perMinute: 60, node: { burst: 2, perMinute: 60 } }, { elapsed: () => 5_000 });
	expect([limit.take("a"), limit.take("b")]).toEqual([null, null]);
	expect([limit.take("a"), limit.take("c")]).toEqual([own(1), node(1)]);
	limit.giveBack("a");
	expect([limit.take("a"), limit.take("c")]).toEqual([null, node(1)]);
	limit.giveBack("b");
	expect([limit.take("c"), limit.take("b")]).toEqual([null, node(1)]);
});
