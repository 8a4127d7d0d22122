/** Why a budget gave nothing: it could never, its owner's share is used up, or the whole of it is. */
export type Refusal = "never" | "own" | "node";

export interface BudgetOptions {
	/** What it counts and in which unit, as metrics show it: `request_body_bytes`. */
	readonly name: string;
	/** What all owners may hold together. */
	readonly limit: number;
	/** What one owner may hold; the whole unless given. */
	readonly perOwner?: number;
}

/** An amount (bytes, connections …) that owners share: each may hold a part of it, and all together no more than the whole. */
export class Budget {
	readonly name: string;
	readonly limit: number;
	readonly perOwner: number;
	readonly #held = new Map<string, number>();
	#used = 0;
	#refusals = 0;

	constructor({ name, limit, perOwner = limit }: BudgetOptions) {
		this.name = name;
		this.limit = limit;
		this.perOwner = Math.min(perOwner, limit);
	}

	get used(): number {
		return this.#used;
	}

	/** How often it gave nothing. */
	get refusals(): number {
		return this.#refusals;
	}

	heldBy(owner: string): number {
		return this.#held.get(owner) ?? 0;
	}

	/** Takes `amount` for the owner. @returns null, or why nothing was taken */
	take(owner: string, amount: number): Refusal | null {
		const held = this.heldBy(owner) + amount;
		const refusal =
			amount > this.perOwner
				? "never"
				: held > this.perOwner
					? "own"
					: this.#used + amount > this.limit
						? "node"
						: null;
		if (refusal !== null) {
			this.#refusals += 1;
			return refusal;
		}
		this.#held.set(owner, held);
		this.#used += amount;
		return null;
	}

	/** Gives back what was taken. */
	give(owner: string, amount: number): void {
		const held = this.heldBy(owner) - amount;
		if (held > 0) this.#held.set(owner, held);
		else this.#held.delete(owner);
		this.#used -= amount;
	}
}
