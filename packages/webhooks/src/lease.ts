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
	#timer: ReturnType<typeof setTimeout> | undefined;
	/** Runs while the store is asked for more time. */
	#expiry: ReturnType<typeof setTimeout> | undefined;
	#ended = false;
	/** When the lease ends at the latest. */
	#end: number;

	/** @param takenAt when the claim was requested, on the clock of `performance.now` */
	constructor(options: LeaseOptions, takenAt: number) {
		this.#options = options;
		this.#end = takenAt + options.leaseMs;
		this.#renewLater();
	}

	/** Aborts once another may hold the claim. */
	get signal(): AbortSignal {
		return this.#lost.signal;
	}

	/** Stops renewing. The claim then ends on its own, unless it is finished or released. */
	end(): void {
		this.#ended = true;
		clearTimeout(this.#timer);
		clearTimeout(this.#expiry);
	}

	#renewLater(): void {
		this.#timer = setTimeout(() => void this.#renew(), this.#options.leaseMs / 3);
	}

	async #renew(): Promise<void> {
		const { store, key, token, leaseMs, onError } = this.#options;
		const askedAt = performance.now();
		// A store that doesn't respond, as behind a broken network, can't extend the lease either.
		this.#expiry = setTimeout(() => this.#lose(), Math.max(0, this.#end - askedAt));
		let isHeld: boolean;
		try {
			isHeld = await store.renew(key, token, leaseMs);
			if (isHeld) this.#end = askedAt + leaseMs;
		} catch (error) {
			onError(error);
			isHeld = performance.now() < this.#end;
		}
		clearTimeout(this.#expiry);
		if (this.#ended) return;
		if (isHeld) this.#renewLater();
		else this.#lose();
	}

	#lose(): void {
		const { key } = this.#options;
		this.#lost.abort(new Error(`The claim on ${key} was lost: another process may handle the event now.`));
	}
}
