/** Waits no longer than this, milliseconds: what is in the way may hang. */
const PATIENCE_MS = 1_000;

/**
 * Keeps a node's settles and its renewal of leases from meeting each other's row locks: a renewal begins when the settles
 * in flight have ended, and settles wait until it is over. Nothing depends on it but speed: both pass over rows that are
 * held, and whoever has waited for long enough goes ahead.
 */
export class RightOfWay {
	readonly #settles = new Set<Promise<unknown>>();
	#renewal: Promise<unknown> | null = null;
	readonly #patienceMs: number;

	constructor(patienceMs = PATIENCE_MS) {
		this.#patienceMs = patienceMs;
	}

	async settle<T>(work: () => Promise<T>): Promise<T> {
		if (this.#renewal) await this.#ended([this.#renewal]);
		const settling = work();
		this.#settles.add(settling);
		return settling.finally(() => this.#settles.delete(settling));
	}

	/** One at a time: whoever calls it waits for the one before. */
	async renew<T>(work: () => Promise<T>): Promise<T> {
		const renewal = this.#ended([...this.#settles]).then(work);
		this.#renewal = renewal;
		return renewal.finally(() => {
			if (this.#renewal === renewal) this.#renewal = null;
		});
	}

	async #ended(all: readonly Promise<unknown>[]): Promise<void> {
		if (all.length === 0) return;
		const { promise: patience, resolve } = Promise.withResolvers<void>();
		const timer = setTimeout(resolve, this.#patienceMs);
		await Promise.race([Promise.allSettled(all), patience]);
		clearTimeout(timer);
	}
}
