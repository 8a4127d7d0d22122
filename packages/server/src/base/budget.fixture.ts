import { Budget } from "./budget.ts";

/** By name, the amount that the most recently changed budget holds. */
const held = new Map<string, number>();
const watchers = new Set<() => void>();

for (const verb of ["hold", "give"] as const) {
	const change = Budget.prototype[verb];
	Budget.prototype[verb] = function (this: Budget, owner: string, amount: number): void {
		change.call(this, owner, amount);
		held.set(this.name, this.used);
		for (const look of watchers) look();
	};
}

/** Resolves once the budget of this name holds an amount that `isEnough` accepts. */
export function budgetHolds(name: string, isEnough: (used: number) => boolean): Promise<void> {
	return new Promise((resolve) => {
		const look = (): void => {
			if (!isEnough(held.get(name) ?? 0)) return;
			watchers.delete(look);
			resolve();
		};
		watchers.add(look);
		look();
	});
}
