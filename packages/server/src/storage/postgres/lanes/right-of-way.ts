import { Bag, type Baggable } from "../../../base/collections.ts";

/** How long to wait, milliseconds, in case a call hangs. */
const PATIENCE_MS = 1_000;

interface Settling extends Baggable {
	readonly ended: Promise<unknown>;
}

/**
 * Keeps a node's settles and renewals of leases from locking each other's rows: a renewal begins once the settles in
 * flight have ended, and later settles wait for it. Only speed depends on this: both skip locked rows, and a call that
 * has waited long enough proceeds.
 */
export class RightOfWay {
	readonly #settles = new Bag<Settling>();
	#renewal: Promise<unknown> | null = null;
	readonly #patienceMs: number;

	constructor(patienceMs = PATIENCE_MS) {
		this.#patienceMs = patienceMs;
	}

	async settle<T>(work: () => Promise<T>): Promise<T> {
		if (this.#renewal) await this.#ended([this.#renewal]);
		const settling: Settling = { ended: work(), bagIndex: -1 };
		this.#settles.add(settling);
		return (settling.ended as Promise<T>).finally(() => this.#settles.delete(settling));
	}

	async renew<T>(work: () => Promise<T>): Promise<T> {
		const before = this.#renewal === null ? [] : [this.#renewal];
		const renewal = this.#ended([...this.#settles.toArray().map(({ ended }) => ended), ...before]).then(work);
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
