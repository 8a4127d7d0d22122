/** Time is handed in, so that the whole engine can run under a virtual clock. */
export interface Clock {
	/** Milliseconds since the Unix epoch. */
	now(): number;
	/** Calls `fn` once, no earlier than `ms` milliseconds from now. Never keeps the process alive. */
	setTimeout(fn: () => void, ms: number): Timer;
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
	setTimeout(fn, ms) {
		const handle = setTimeout(fn, Math.max(0, ms));
		handle.unref();
		return { cancel: () => clearTimeout(handle) };
	},
};
