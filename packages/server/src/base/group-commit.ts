/** Under load a batch gathers for this many times the last commit's duration, but no longer than it may. */
const GATHER_FACTOR = 10;

export interface GroupCommitOptions<T> {
	/** Commits a batch. It must not reject: what can go wrong is its business. */
	readonly commit: (batch: T[]) => Promise<void>;
	/** What an item weighs against `maxWeight`. */
	readonly weigh: (item: T) => number;
	/** A batch closes when it weighs this much; a heavier item goes alone. */
	readonly maxWeight: number;
	/** Under load a batch gathers no longer than this, milliseconds. */
	readonly gatherMaxMs: number;
}

/**
 * Lets items that arrive while a commit is under way share the next one. Idle, an item is committed at once, with no
 * added delay. Under load (the last batch held more than one item) the next batch gathers a little, so that a commit's
 * fixed cost (the disk) is shared by more of them. One batch is under way at a time, and items keep their order.
 */
export class GroupCommit<T> {
	readonly #options: GroupCommitOptions<T>;
	#waiting: T[] = [];
	#weight = 0;
	#committing = false;
	#gathering = false;
	#drained: (() => void)[] = [];

	constructor(options: GroupCommitOptions<T>) {
		this.#options = options;
	}

	/** The weight of all that waits for a commit; what is being committed does not count. */
	get waitingWeight(): number {
		return this.#weight;
	}

	add(item: T): void {
		this.#waiting.push(item);
		this.#weight += this.#options.weigh(item);
		if (this.#committing) return;
		if (!this.#gathering || this.#weight >= this.#options.maxWeight) void this.#flush();
	}

	/** Resolves when nothing waits and nothing is under way. */
	drain(): Promise<void> {
		if (!this.#committing && this.#waiting.length === 0) return Promise.resolve();
		if (!this.#committing) void this.#flush();
		return new Promise((resolve) => this.#drained.push(resolve));
	}

	async #flush(): Promise<void> {
		this.#gathering = false;
		this.#committing = true;
		const batch = this.#takeBatch();
		const begun = performance.now();
		await this.#options.commit(batch);
		const tookMs = performance.now() - begun;
		this.#committing = false;
		if (this.#waiting.length === 0) {
			if (batch.length > 1) this.#gather(tookMs);
			for (const resolve of this.#drained.splice(0)) resolve();
		} else if (this.#weight >= this.#options.maxWeight || batch.length === 1) {
			void this.#flush();
		} else {
			this.#gather(tookMs);
		}
	}

	#gather(lastCommitMs: number): void {
		this.#gathering = true;
		// The disk's time, not the domain's: a virtual clock has no say in it.
		setTimeout(
			() => {
				if (!this.#gathering || this.#committing) return;
				this.#gathering = false;
				if (this.#waiting.length > 0) void this.#flush();
			},
			Math.min(this.#options.gatherMaxMs, lastCommitMs * GATHER_FACTOR),
		);
	}

	#takeBatch(): T[] {
		const { weigh, maxWeight } = this.#options;
		if (this.#weight <= maxWeight) {
			const all = this.#waiting;
			this.#waiting = [];
			this.#weight = 0;
			return all;
		}
		let weight = 0;
		let count = 0;
		for (const item of this.#waiting) {
			const w = weigh(item);
			if (count > 0 && weight + w > maxWeight) break;
			weight += w;
			count += 1;
		}
		this.#weight -= weight;
		return this.#waiting.splice(0, count);
	}
}
