import { NAMES } from "./budgets.ts";
import type { Clock } from "./clock.ts";

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
