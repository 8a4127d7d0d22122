import type { Clock, Timer } from "../../../src/base/clock.ts";

/** A test's clock, whose timers fire when the test says so. */
export class StandingClock implements Pick<Clock, "now" | "setTimeout"> {
	readonly now: () => number;
	readonly #timers = new Set<() => void>();

	constructor({ now }: Pick<Clock, "now">) {
		this.now = now;
	}

	setTimeout(fn: () => void): Timer {
		this.#timers.add(fn);
		return { cancel: () => this.#timers.delete(fn) };
	}

	/** Fires all timers set so far. Returns how many. */
	fire(): number {
		const timers = [...this.#timers];
		this.#timers.clear();
		for (const fn of timers) fn();
		return timers.length;
	}
}
