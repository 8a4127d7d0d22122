import type { Clock, Timer } from "../../base/clock.ts";

/** Something that a deadline cuts. */
export interface HasDeadline {
	/** Time is up. Must not throw. */
	cut(): void;
}

/**
 * Deadlines of attempts. All have the same time limit, so they expire in the order in which they began, and one timer
 * serves them all.
 */
export class Deadlines {
	readonly #clock: Pick<Clock, "elapsed" | "setTimeout">;
	readonly #ms: number;
	/** When each is due, by the monotonic clock; the first is due first. */
	readonly #dueAt = new Map<HasDeadline, number>();
	#timer: Timer | null = null;

	/** @param ms how long each may take */
	constructor(clock: Pick<Clock, "elapsed" | "setTimeout">, ms: number) {
		this.#clock = clock;
		this.#ms = ms;
	}

	add(timed: HasDeadline): void {
		this.#timer ??= this.#clock.setTimeout(this.#fire, this.#ms);
		this.#dueAt.set(timed, this.#clock.elapsed() + this.#ms);
	}

	/** It is over. Harmless if it was cut. */
	remove(timed: HasDeadline): void {
		this.#dueAt.delete(timed);
		if (this.#dueAt.size > 0) return;
		this.#timer?.cancel();
		this.#timer = null;
	}

	readonly #fire = (): void => {
		this.#timer = null;
		const now = this.#clock.elapsed();
		for (const [timed, dueAt] of this.#dueAt) {
			if (dueAt > now) {
				this.#timer = this.#clock.setTimeout(this.#fire, Math.ceil(dueAt - now));
				return;
			}
			this.#dueAt.delete(timed);
			timed.cut();
		}
	};
}
