import { NAMES } from "../base/budgets.ts";
import type { Clock } from "../base/clock.ts";

/** Counts failures by name (an address, an account) in windows of time, and says who has to wait. */
export class Throttle {
	readonly #clock: Pick<Clock, "now">;
	readonly #max: number;
	readonly #windowMs: number;
	readonly #windows = new Map<string, { endsAt: number; failures: number }>();

	/** @param max failures within a window, of `windowMs` from the first of them */
	constructor(clock: Pick<Clock, "now">, max: number, windowMs: number) {
		this.#clock = clock;
		this.#max = max;
		this.#windowMs = windowMs;
	}

	/** Seconds to wait, or null when another try is free. */
	wait(name: string): number | null {
		const window = this.#current(name);
		if (!window || window.failures < this.#max) return null;
		return Math.max(1, Math.ceil((window.endsAt - this.#clock.now()) / 1_000));
	}

	failed(name: string): void {
		const window = this.#current(name);
		if (window) window.failures += 1;
		else {
			this.#windows.set(name, { endsAt: this.#clock.now() + this.#windowMs, failures: 1 });
			if (this.#windows.size > NAMES) this.#windows.delete(this.#windows.keys().next().value ?? name);
		}
	}

	/** It was no failure after all. */
	takeBack(name: string): void {
		const window = this.#current(name);
		if (window) window.failures -= 1;
	}

	forget(name: string): void {
		this.#windows.delete(name);
	}

	#current(name: string): { endsAt: number; failures: number } | undefined {
		const window = this.#windows.get(name);
		if (window && window.endsAt > this.#clock.now()) return window;
		this.#windows.delete(name);
		return undefined;
	}
}
