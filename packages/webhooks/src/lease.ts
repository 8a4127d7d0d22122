import type { Store } from "./store.ts";

export interface LeaseOptions {
	readonly store: Store;
	readonly key: string;
	readonly token: string;
	readonly leaseMs: number;
	/** Called for each renewal that fails. */
	readonly onError: (error: unknown) => void;
}

/** Renews a claim while its handler runs. */
export class Lease {
	readonly #options: LeaseOptions;
	readonly #lost = new AbortController();
	#renewal: ReturnType<typeof setTimeout> | undefined;
	/** Runs until the lease ends, however long a renewal takes or fails. */
	#expiry: ReturnType<typeof setTimeout> | undefined;
	#ended = false;

	/** @param takenAt when the claim was requested, on the clock of `performance.now` */
	constructor(options: LeaseOptions, takenAt: number) {
		this.#options = options;
		this.#expireAfter(takenAt);
		this.#renewLater();
	}

	/** Aborts once another may hold the claim. */
	get signal(): AbortSignal {
		return this.#lost.signal;
	}

	/** Stops renewing. The claim then ends on its own, unless it is finished or released. */
	end(): void {
		this.#ended = true;
		clearTimeout(this.#renewal);
		clearTimeout(this.#expiry);
	}

	#renewLater(): void {
		this.#renewal = setTimeout(() => void this.#renew(), this.#options.leaseMs / 3);
	}

	/** @param takenAt when the store was called: the lease began then or later */
	#expireAfter(takenAt: number): void {
		const leftMs = takenAt + this.#options.leaseMs - performance.now();
		this.#expiry = setTimeout(() => this.#lose(), Math.max(0, leftMs));
	}

	async #renew(): Promise<void> {
		const { store, key, token, leaseMs, onError } = this.#options;
		const askedAt = performance.now();
		let isHeld: boolean;
		try {
			isHeld = await store.renew(key, token, leaseMs);
			clearTimeout(this.#expiry);
		} catch (error) {
			onError(error);
			if (!this.#ended && !this.#lost.signal.aborted) this.#renewLater();
			return;
		}
		if (this.#ended) return;
		if (isHeld) {
			this.#expireAfter(askedAt);
			this.#renewLater();
		} else this.#lose();
	}

	#lose(): void {
		const { key } = this.#options;
		this.#lost.abort(new Error(`The claim on ${key} was lost: another process may handle the event now.`));
	}
}
