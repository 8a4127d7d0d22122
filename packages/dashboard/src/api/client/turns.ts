/** Runs at most so many calls at a time. Others wait, in the order in which they came. */
export class Turns {
	#free: number;
	readonly #waiting: (() => void)[] = [];

	constructor(atOnce: number) {
		this.#free = atOnce;
	}

	/** Rejects with the signal's reason, without the call, if that is aborted before the call's turn. */
	async take<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
		if (this.#free > 0) this.#free--;
		else await new Promise<void>((next) => this.#waiting.push(next));
		try {
			signal.throwIfAborted();
			return await call();
		} finally {
			const next = this.#waiting.shift();
			if (next === undefined) this.#free++;
			else next();
		}
	}
}
