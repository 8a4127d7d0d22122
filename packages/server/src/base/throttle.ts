import { NAMES } from "./budgets.ts";
import type { Clock } from "./clock.ts";
import { BoundedMap } from "./collections.ts";

/**
 * Counts failures by name (an address, an account) within a time window, and says who has to wait. By the monotonic
 * clock: if the wall clock were ahead at a failure and set back later, the window wouldn't end before that time.
 */
export class Throttle {
	readonly #clock: Pick<Clock, "elapsed">;
	readonly #max: number;
	readonly #windowMs: number;
	readonly #windows = new BoundedMap<string, { endsAt: number; failures: number }>(NAMES);

	/** @param max failures within a window, of `windowMs` from the first of them */
	constructor(clock: Pick<Clock, "elapsed">, max: number, windowMs: number) {
		this.#clock = clock;
		this.#max = max;
		this.#windowMs = windowMs;
	}

	/** Seconds to wait, or null if another try is allowed. */
	wait(name: string): number | null {
		const window = this.#current(name);
		if (!window || window.failures < this.#max) return null;
		return Math.max(1, Math.ceil((window.endsAt - this.#clock.elapsed()) / 1_000));
	}

	failed(name: string): void {
		const window = this.#current(name);
		if (window) window.failures += 1;
		else this.#windows.set(name, { endsAt: this.#clock.elapsed() + this.#windowMs, failures: 1 });
	}

	takeBack(name: string): void {
		const window = this.#current(name);
		if (window) window.failures -= 1;
	}

	forget(name: string): void {
		this.#windows.delete(name);
	}

	#current(name: string): { endsAt: number; failures: number } | undefined {
		const window = this.#windows.get(name);
		if (window && window.endsAt > this.#clock.elapsed()) return window;
		this.#windows.delete(name);
		return undefined;
	}
}

interface Rate {
	/** How many may be taken at once after a pause. */
	readonly burst: number;
	readonly perMinute: number;
}

export interface RateLimitOptions extends Rate {
	/** For all owners together. An owner may only use as much of its burst as it leaves to the others. */
	readonly node?: Rate | undefined;
}

/** Who uses too much, and the seconds until there is enough again. */
interface TooSoon {
	readonly whose: "own" | "node";
	readonly wait: number;
}

const MINUTE_MS = 60_000;

/** Limits how often each owner does something: a token bucket for each, and one for all of them. */
export class RateLimit {
	readonly rate: Rate;
	readonly #node: Rate | undefined;
	readonly #clock: Pick<Clock, "elapsed">;
	/** By owner, when all of its tokens will be available again. */
	readonly #fullAt = new Map<string, number>();
	/** The same for all owners together. */
	#nodeFullAt = 0;
	refusals = 0;

	constructor({ node, ...rate }: RateLimitOptions, clock: Pick<Clock, "elapsed">) {
		this.rate = rate;
		this.#node = node;
		this.#clock = clock;
	}

	/** Charges for something that was already allowed. The owner may have to wait longer before its next. */
	charge(owner: string, count: number): void {
		this.#fullAt.set(owner, this.#fullAtAfter(owner, count));
	}

	/** Takes one token. @returns null, or why there is none */
	take(owner: string): TooSoon | null {
		const now = this.#clock.elapsed();
		const fullAt = this.#fullAtAfter(owner, 1);
		const wait = fullAt - now - this.rate.burst * intervalOf(this.rate);
		if (wait > 0) return this.#refuse("own", wait);
		if (this.#node) {
			const interval = intervalOf(this.#node);
			const nodeFullAt = Math.max(now, this.#nodeFullAt) + interval;
			const used = (fullAt - now) / intervalOf(this.rate);
			const left = this.#node.burst - (nodeFullAt - now) / interval;
			if (left < used - 1) return this.#refuse("node", (used - 1 - left) * interval);
			this.#nodeFullAt = nodeFullAt;
		}
		if (this.#fullAt.size >= NAMES) for (const [name, at] of this.#fullAt) if (at <= now) this.#fullAt.delete(name);
		this.#fullAt.set(owner, fullAt);
		return null;
	}

	/** Returns a token that was just taken, because nothing was done. */
	giveBack(owner: string): void {
		this.charge(owner, -1);
		if (this.#node) this.#nodeFullAt -= intervalOf(this.#node);
	}

	#fullAtAfter(owner: string, count: number): number {
		const now = this.#clock.elapsed();
		return Math.max(now, this.#fullAt.get(owner) ?? now) + count * intervalOf(this.rate);
	}

	#refuse(whose: TooSoon["whose"], waitMs: number): TooSoon {
		this.refusals += 1;
		return { whose, wait: Math.ceil(waitMs / 1_000) };
	}
}

/** Between two tokens, milliseconds. */
const intervalOf = ({ perMinute }: Rate): number => MINUTE_MS / perMinute;
