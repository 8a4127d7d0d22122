import { expect, test } from "vitest";
import { Budget } from "../base/budget.ts";
import { createMetrics } from "./metrics.ts";

test("shows the limit, the use and the refusals of each budget at the time of the scrape", async () => {
	const metrics = createMetrics(15_000);
	const [bytes, sends] = [new Budget({ name: "bytes", limit: 10 }), new Budget({ name: "sends", limit: 3 })];
	metrics.watchBudgets([bytes]);
	metrics.watchBudgets([sends]);
	bytes.take("a", 4);
	const shown = async () =>
		(await metrics.registry.metrics()).split("\n").filter((line) => line.startsWith("posthorn_budget_"));
	expect(await shown()).toEqual([
		'posthorn_budget_limit{budget="bytes"} 10',
		'posthorn_budget_limit{budget="sends"} 3',
		'posthorn_budget_used{budget="bytes"} 4',
		'posthorn_budget_used{budget="sends"} 0',
		'posthorn_budget_refusals_total{budget="bytes"} 0',
		'posthorn_budget_refusals_total{budget="sends"} 0',
	]);
	bytes.take("b", 7);
	bytes.take("b", 11);
	bytes.give("a", 4);
	expect(await shown()).toContain('posthorn_budget_refusals_total{budget="bytes"} 2');
	expect(await shown()).toContain('posthorn_budget_used{budget="bytes"} 0');
});

test("refuses a second budget of the same name", () => {
	const metrics = createMetrics(15_000);
	const budget = new Budget({ name: "bytes", limit: 1 });
	metrics.watchBudgets([budget]);
	expect(() => metrics.watchBudgets([budget])).toThrow("Two budgets are named bytes");
});
