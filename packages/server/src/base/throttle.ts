import { BoundedMap } from "./bounded-map.ts";
import { NAMES } from "./budgets.ts";
import type { Clock } from "./clock.ts";

/** Counts failures by name (an address, an account) in windows of time, and says who has to wait. */
export class Throttle {
	readonly #clock: Pick<Clock, "now">;
	readonly #max: number;
	readonly #windowMs: number;
	readonly #windows = new BoundedMap<string, { endsAt: number; failures: number }>(NAMES);

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
		else this.#windows.set(name, { endsAt: this.#clock.now() + this.#windowMs, failures: 1 });
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

export interface Rate {
	/** How many may be taken at once after a pause. */
	readonly burst: number;
	readonly perMinute: number;
}

const MINUTE_MS = 60_000;

/** Limits how often each owner does something: a token bucket for each. */
export class RateLimit {
	readonly rate: Rate;
	readonly #clock: Pick<Clock, "elapsed">;
	/** By owner, when all of its tokens will be available again. */
	readonly #fullAt = new Map<string, number>();

	constructor(rate: Rate, clock: Pick<Clock, "elapsed">) {
		this.rate = rate;
		this.#clock = clock;
	}

	/** Charges for something that was already allowed. The owner may have to wait longer before its next. */
	charge(owner: string, count: number): void {
		const now = this.#clock.elapsed();
		const each = MINUTE_MS / this.rate.perMinute;
		this.#fullAt.set(owner, Math.max(now, this.#fullAt.get(owner) ?? now) + count * each);
	}

	/** Takes one token. @returns null, or the seconds until one is available */
	take(owner: string): number | null {
		const now = this.#clock.elapsed();
		const each = MINUTE_MS / this.rate.perMinute;
		const fullAt = Math.max(now, this.#fullAt.get(owner) ?? now) + each;
		const wait = fullAt - now - this.rate.burst * each;
		if (wait > 0) return Math.ceil(wait / 1_000);
		if (this.#fullAt.size >= NAMES) for (const [name, at] of this.#fullAt) if (at <= now) this.#fullAt.delete(name);
		this.#fullAt.set(owner, fullAt);
		return null;
	}
}
