import fc from "fast-check";
import { expect, test } from "vitest";
import { Budget } from "./budget.ts";

test("reports whose share is used up, and counts refusals", () => {
	const budget = new Budget({ name: "bytes", limit: 100, perOwner: 60 });
	expect(budget.take("a", 61)).toBe("never");
	expect(budget.take("a", 50)).toBeNull();
	expect(budget.take("a", 11)).toBe("own");
	expect(budget.take("b", 51)).toBe("node");
	expect([budget.used, budget.refusals, budget.heldBy("a")]).toEqual([50, 3, 50]);
	budget.give("a", 50);
	expect(budget.take("b", 51)).toBeNull();
});

test("holds exactly what was taken and not returned, for any sequence of owners", () => {
	const step = fc.record({ owner: fc.constantFrom("a", "b", "c"), amount: fc.nat(40), give: fc.boolean() });
	fc.assert(
		fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
			const budget = new Budget({ name: "bytes", limit: 100, perOwner: 60 });
			const taken = new Map<string, number[]>();
			for (const { owner, amount, give } of steps) {
				const mine = taken.get(owner) ?? [];
				taken.set(owner, mine);
				if (give && mine.length > 0) budget.give(owner, mine.pop()!);
				else if (budget.take(owner, amount) === null) mine.push(amount);
				const sums = [...taken.values()].map((amounts) => amounts.reduce((sum, one) => sum + one, 0));
				expect(budget.used).toBe(sums.reduce((sum, one) => sum + one, 0));
				expect(budget.used).toBeLessThanOrEqual(100);
				expect(Math.max(...sums)).toBeLessThanOrEqual(60);
			}
		}),
	);
});
