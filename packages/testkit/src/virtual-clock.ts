interface Waiting {
	readonly at: number;
	readonly order: number;
	readonly fire: () => void;
}

/**
 * A clock that only moves when advanced. A test waits for a signal that the current work is done, then advances it to
 * the next timer, so hours pass in milliseconds, exactly.
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

	/** Moves the wall clock by `ms`, forward or back. Timers don't depend on it. */
	set(ms: number): void {
		this.#setBy += ms;
	}

	/** A timer that is due immediately fires in the next turn of the event loop. */
	setTimeout(fire: () => void, ms: number): { cancel(): void } {
		// Clocks show whole milliseconds, and no timer fires early.
		const timer = { at: this.#now + Math.max(0, Math.ceil(ms)), order: this.#order++, fire };
		this.#timers.add(timer);
		if (ms <= 0) setImmediate(() => this.#fire(timer));
		return { cancel: () => void this.#timers.delete(timer) };
	}

	/** Runs automatically, too. */
	setImmediate(run: () => void): void {
		setImmediate(run);
	}

	/** When the next timer fires, or null if none is set. */
	get nextAt(): number | null {
		return this.#next()?.at ?? null;
	}

	/** Advances to `at` and fires all timers that are due on the way, in order. They may set new ones. */
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
