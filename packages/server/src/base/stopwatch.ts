import type { Clock } from "./clock.ts";

/** Adds up how long something waited. Waits that overlap count once. */
export class Stopwatch {
	readonly #clock: Pick<Clock, "elapsed">;
	#running = 0;
	#startedAt = 0;
	#earlierMs = 0;

	constructor(clock: Pick<Clock, "elapsed">) {
		this.#clock = clock;
	}

	/** Time so far, milliseconds. */
	get ms(): number {
		return this.#earlierMs + (this.#running === 0 ? 0 : this.#clock.elapsed() - this.#startedAt);
	}

	/** Runs until the promise is settled. */
	async during(wait: Promise<void>): Promise<void> {
		if (this.#running++ === 0) this.#startedAt = this.#clock.elapsed();
		try {
			await wait;
		} finally {
			if (--this.#running === 0) this.#earlierMs += this.#clock.elapsed() - this.#startedAt;
		}
	}
}
