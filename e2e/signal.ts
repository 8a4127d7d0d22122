/** Wakes those who wait for something to be so, whenever it is looked at. */
export class Signal {
	readonly #waiters = new Set<{ readonly isSo: () => boolean; readonly resolve: () => void }>();

	/** Resolves as soon as `isSo` answers true: it is asked at once, and with every {@link look}. */
	until(isSo: () => boolean): Promise<void> {
		return new Promise((resolve) => {
			this.#waiters.add({ isSo, resolve });
			this.look();
		});
	}

	look(): void {
		for (const waiter of this.#waiters) {
			if (!waiter.isSo()) continue;
			this.#waiters.delete(waiter);
			waiter.resolve();
		}
	}
}
