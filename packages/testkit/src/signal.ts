import { within } from "./until.ts";

/** Wakes those who wait for a condition, whenever someone says that it may have changed. */
export class Signal {
	readonly #waiters = new Set<{ readonly isSo: () => boolean; readonly resolve: () => void }>();

	/**
	 * Resolves as soon as `isSo` returns true: it is called now, and with every {@link look}. Rejects after 50 seconds.
	 *
	 * @param what what is awaited, for the error
	 */
	async until(what: string, isSo: () => boolean): Promise<void> {
		if (isSo()) return;
		const { promise, resolve } = Promise.withResolvers<void>();
		const waiter = { isSo, resolve };
		this.#waiters.add(waiter);
		await within(what, promise).finally(() => this.#waiters.delete(waiter));
	}

	/** Checks every waiter's condition. */
	look(): void {
		for (const waiter of this.#waiters) {
			if (!waiter.isSo()) continue;
			this.#waiters.delete(waiter);
			waiter.resolve();
		}
	}
}
