/** Why a budget refused: the amount could never fit, the owner's share is used up, or the whole budget is. */
export type Refusal = "never" | "own" | "node";

interface BudgetOptions {
	/** What it counts and in which unit, as in the metrics: `request_body_bytes`. */
	readonly name: string;
	/** Limit for all owners together. */
	readonly limit: number;
	/** Limit for one owner; the whole by default. */
	readonly perOwner?: number;
	/** Whether an owner may hold only as much as it leaves to the others, so that a few owners can't fill the whole. */
	readonly leavesRoom?: boolean;
}

/** An amount (bytes, connections …) shared by owners, with a limit for each and a limit for all together. */
export class Budget {
	readonly name: string;
	readonly limit: number;
	readonly perOwner: number;
	readonly #leavesRoom: boolean;
	readonly #held = new Map<string, number>();
	used = 0;
	refusals = 0;

	constructor({ name, limit, perOwner = limit, leavesRoom = false }: BudgetOptions) {
		this.name = name;
		this.limit = limit;
		this.perOwner = Math.min(perOwner, leavesRoom ? limit / 2 : limit);
		this.#leavesRoom = leavesRoom;
	}

	heldBy(owner: string): number {
		return this.#held.get(owner) ?? 0;
	}

	/** Why the owner can't take `amount` now; null if it can. */
	refusal(owner: string, amount: number): Refusal | null {
		const held = this.heldBy(owner) + amount;
		if (amount > this.perOwner) return "never";
		if (held > this.perOwner) return "own";
		return this.limit - this.used - amount < (this.#leavesRoom ? held : 0) ? "node" : null;
	}

	/** Takes `amount` for the owner. @returns null, or why nothing was taken */
	take(owner: string, amount: number): Refusal | null {
		const refusal = this.refusal(owner, amount);
		if (refusal === null) this.hold(owner, amount);
		else this.refuse();
		return refusal;
	}

	/** Counts a refusal that was decided without `take`. */
	refuse(): void {
		this.refusals += 1;
	}

	/** Like `take`, for what can't be divided: an owner that holds nothing may exceed its share. */
	takeWhole(owner: string, amount: number): Exclude<Refusal, "never"> | null {
		const isAlone = amount > this.perOwner && this.heldBy(owner) === 0;
		if (isAlone) {
			this.hold(owner, amount);
			return null;
		}
		const refusal = this.take(owner, amount);
		return refusal === "never" ? "own" : refusal;
	}

	/** Takes `amount` for the owner even beyond the limits: for what already exists and can't be refused. */
	hold(owner: string, amount: number): void {
		this.#held.set(owner, this.heldBy(owner) + amount);
		this.used += amount;
	}

	give(owner: string, amount: number): void {
		const held = this.heldBy(owner) - amount;
		if (held > 0) this.#held.set(owner, held);
		else this.#held.delete(owner);
		this.used -= amount;
	}
}
