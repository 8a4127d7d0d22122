import { PATIENCE_MS } from "./until.ts";

export interface WaitOptions {
	/** Longest wait, milliseconds. By default, {@link PATIENCE_MS}. */
	readonly timeoutMs?: number;
}

interface Waiter<T> {
	offer(item: T): void;
	reject(error: Error): void;
}

/** Keeps the newest items that arrive and wakes those who wait for them. */
export class Inbox<T> {
	/** The newest, oldest first; never more than `keep`. */
	readonly items: T[] = [];
	readonly #keep: number;
	readonly #describe: (item: T) => string;
	readonly #waiters = new Set<Waiter<T>>();
	readonly #taken = new WeakSet<T & object>();
	#received = 0;
	#failure: Error | undefined;

	constructor(keep: number, describe: (item: T) => string) {
		if (!(keep >= 1)) throw new RangeError(`An inbox must keep 1 item or more, not ${keep}.`);
		this.#keep = keep;
		this.#describe = describe;
	}

	/** All that ever arrived, including those no longer kept. */
	get received(): number {
		return this.#received;
	}

	add(item: T & object): void {
		this.#received++;
		this.items.push(item);
		if (this.items.length > this.#keep) this.items.shift();
		for (const waiter of [...this.#waiters]) waiter.offer(item);
	}

	/** From now on every wait rejects with this error. The first error counts. */
	fail(error: Error): void {
		this.#failure ??= error;
		for (const waiter of [...this.#waiters]) waiter.reject(error);
	}

	get failure(): Error | undefined {
		return this.#failure;
	}

	/** The oldest matching item that no earlier `next` has returned, whether it has arrived or is yet to. */
	next(fits: (item: T & object) => boolean = () => true, options?: WaitOptions): Promise<T> {
		const take = (item: T & object): T | undefined => {
			if (this.#taken.has(item) || !fits(item)) return undefined;
			this.#taken.add(item);
			return item;
		};
		return this.#wait(
			"an item that fits",
			(items) => {
				for (const item of items) {
					const taken = take(item as T & object);
					if (taken !== undefined) return taken;
				}
				return undefined;
			},
			options,
		);
	}

	/** Resolves when `n` have arrived in total. */
	async count(n: number, options?: WaitOptions): Promise<void> {
		await this.#wait(`${n} in all`, () => (this.#received >= n ? true : undefined), options);
	}

	/** Resolves when `fits`, called with the kept items, returns true; called immediately and with every arrival. */
	async waitFor(fits: (items: readonly T[]) => boolean, options?: WaitOptions): Promise<void> {
		await this.#wait("the condition", () => (fits(this.items) ? true : undefined), options);
	}

	#wait<R>(what: string, look: (fresh: readonly T[]) => R | undefined, options: WaitOptions = {}): Promise<R> {
		const { timeoutMs = PATIENCE_MS } = options;
		return new Promise((resolve, reject) => {
			if (this.#failure) return reject(this.#failure);
			const there = look(this.items);
			if (there !== undefined) return resolve(there);
			const end = (): void => {
				clearTimeout(timer);
				this.#waiters.delete(waiter);
			};
			const waiter: Waiter<T> = {
				offer: (item) => {
					try {
						const found = look([item]);
						if (found === undefined) return;
						end();
						resolve(found);
					} catch (error) {
						waiter.reject(error instanceof Error ? error : new Error(String(error)));
					}
				},
				reject: (error) => {
					end();
					reject(error);
				},
			};
			const timer = setTimeout(() => {
				waiter.reject(new Error(`Waited ${timeoutMs} ms for ${what}. ${this.#summary()}`));
			}, timeoutMs);
			this.#waiters.add(waiter);
		});
	}

	#summary(): string {
		if (this.#received === 0) return "Nothing arrived.";
		const shown = this.items.slice(-20);
		const lines = shown.map((item) => `  ${this.#describe(item)}`).join("\n");
		return `${this.#received} arrived, the last ${shown.length} of them:\n${lines}`;
	}
}
