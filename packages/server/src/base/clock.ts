/** Time is handed in, so that the whole engine can run under a virtual clock. */
export interface Clock {
	/** Milliseconds since the Unix epoch. */
	now(): number;
	/** Milliseconds since some moment of the past. Is never set, but may stand still while the machine sleeps. */
	elapsed(): number;
	/** Calls `fn` once, no earlier than `ms` milliseconds from now. Never keeps the process alive. */
	setTimeout(fn: () => void, ms: number): Timer;
	/** Calls `fn` once, as soon as this turn of the event loop is done. */
	setImmediate(fn: () => void): void;
}

/** A moment, by both of a clock's hands. */
export interface Moment {
	readonly now: number;
	readonly elapsed: number;
}

export function momentOf(clock: Pick<Clock, "now" | "elapsed">): Moment {
	return { now: clock.now(), elapsed: clock.elapsed() };
}

/**
 * Whether `ms` milliseconds have passed by either hand: the time of day may have been set back meanwhile, and the other
 * hand has stood still if the machine slept.
 */
export function havePassed(clock: Pick<Clock, "now" | "elapsed">, ms: number, since: Moment): boolean {
	return clock.now() - since.now >= ms || clock.elapsed() - since.elapsed >= ms;
}

/** Ends a timer that has not fired; harmless afterwards. */
export interface Timer {
	cancel(): void;
}

/**
 * The longest wait that is handed to the operating system at once. `setTimeout` fires at once beyond 24.8 days, and a
 * wall clock may be set while we wait, so whoever waits for a time of day looks again at least this often.
 */
export const LONGEST_WAIT_MS = 60_000;

export const systemClock: Clock = {
	now: () => Date.now(),
	elapsed: () => performance.now(),
	setTimeout(fn, ms) {
		const handle = setTimeout(fn, Math.max(0, ms));
		handle.unref();
		return { cancel: () => clearTimeout(handle) };
	},
	setImmediate: (fn) => void setImmediate(fn),
};
