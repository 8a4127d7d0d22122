interface Waiting {
	readonly at: number;
	readonly order: number;
	readonly fire: () => void;
}

/**
 * A clock that stands still until it is told to go on. Whoever drives it waits for a signal that the work at hand is
 * done, then moves on to the next timer: hours pass in milliseconds, and to the millisecond.
 */
export class VirtualClock {
	#now: number;
	#setBy = 0;
	#order = 0;
	readonly #timers = new Set<Waiting>();

	constructor(startMs = Date.UTC(2026, 0, 1)) {
		this.#now = startMs;
	}

	now(): number {
		return this.#now + this.#setBy;
	}

	elapsed(): number {
		return this.#now;
	}

	/** Sets the time of day forward by `ms`, or back. Timers do not go by it. */
	set(ms: number): void {
		this.#setBy += ms;
	}

	/** What is due at once fires by itself, as soon as the event loop turns. */
	setTimeout(fire: () => void, ms: number): { cancel(): void } {
		// Clocks show whole milliseconds, and no timer fires early.
		const timer = { at: this.#now + Math.max(0, Math.ceil(ms)), order: this.#order++, fire };
		this.#timers.add(timer);
		if (ms <= 0) setImmediate(() => this.#fire(timer));
		return { cancel: () => void this.#timers.delete(timer) };
	}

	/** Runs by itself, too. */
	setImmediate(run: () => void): void {
		setImmediate(run);
	}

	/** When the next timer fires, or null when none waits. */
	get nextAt(): number | null {
		return this.#next()?.at ?? null;
	}

	/** Goes on to `at`, firing on the way, in order, what is due; what fires may set new timers. */
	advanceTo(at: number): void {
		for (let timer = this.#next(); timer && timer.at <= at; timer = this.#next()) this.#fire(timer);
		this.#now = Math.max(this.#now, at);
	}

	#fire(timer: Waiting): void {
		if (!this.#timers.delete(timer)) return;
		this.#now = Math.max(this.#now, timer.at);
		timer.fire();
	}

	advance(ms: number): void {
		this.advanceTo(this.#now + ms);
	}

	#next(): Waiting | undefined {
		let next: Waiting | undefined;
		for (const timer of this.#timers)
			if (!next || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer;
		return next;
	}
}
