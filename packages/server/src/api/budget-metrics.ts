import { Counter, Gauge, type Registry } from "prom-client";
import type { Budget } from "../base/budget.ts";

/** What metrics show of a budget. */
export type WatchedBudget = Pick<Budget, "name" | "limit" | "used" | "refusals">;

/** Shows budgets by their names: the returned function adds some to those that are shown. */
export function showBudgets(registry: Registry): (budgets: readonly WatchedBudget[]) => void {
	const watched: WatchedBudget[] = [];
	const registers = [registry];
	const labelNames = ["budget"] as const;
	const gauge = (name: string, help: string, read: (budget: WatchedBudget) => number) =>
		new Gauge({
			name,
			help,
			labelNames,
			registers,
			collect() {
				for (const budget of watched) this.set({ budget: budget.name }, read(budget));
			},
		});
	gauge("posthorn_budget_limit", "What all owners of a budget may hold together.", ({ limit }) => limit);
	gauge("posthorn_budget_used", "What they hold.", ({ used }) => used);
	new Counter({
		name: "posthorn_budget_refusals_total",
		help: "How often a budget gave nothing, because an owner's share or the whole of it was used up.",
		labelNames,
		registers,
		collect() {
			this.reset();
			for (const budget of watched) this.inc({ budget: budget.name }, budget.refusals);
		},
	});
	return (budgets) => {
		for (const budget of budgets) {
			if (watched.some(({ name }) => name === budget.name))
				throw new Error(`Two budgets are named ${budget.name}; metrics could not tell them apart.`);
			watched.push(budget);
		}
	};
}
