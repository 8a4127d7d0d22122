/** Time is injected, so that the whole engine can run under a virtual clock. */
export interface Clock {
	/** Milliseconds since the Unix epoch. */
	now(): number;
	/** Monotonic time: milliseconds since an arbitrary moment. Never set, but may stop while the machine sleeps. */
	elapsed(): number;
	/** Calls `fn` once, no earlier than `ms` milliseconds from now. Never keeps the process alive. */
	setTimeout(fn: () => void, ms: number): Timer;
	/** Calls `fn` once, as soon as this turn of the event loop ends. */
	setImmediate(fn: () => void): void;
}

/** Wall-clock and monotonic time, read together. */
export interface Moment {
	readonly now: number;
	readonly elapsed: number;
}

export function momentOf(clock: Pick<Clock, "now" | "elapsed">): Moment {
	return { now: clock.now(), elapsed: clock.elapsed() };
}

/**
 * Whether `ms` milliseconds have passed on either clock: the wall clock may have been set back meanwhile, and the
 * monotonic clock may have stopped while the machine slept.
 */
export function havePassed(clock: Pick<Clock, "now" | "elapsed">, ms: number, since: Moment): boolean {
	return clock.now() - since.now >= ms || clock.elapsed() - since.elapsed >= ms;
}

/** Resolves after this many milliseconds. */
export function sleep(clock: Pick<Clock, "setTimeout">, ms: number): Promise<void> {
	return new Promise((resolve) => void clock.setTimeout(resolve, ms));
}

/** Calls `work` after `ms`, and then again after as many milliseconds as it resolved with. It must not reject. */
export function repeat(clock: Pick<Clock, "setTimeout">, ms: number, work: () => Promise<number>): Repetition {
	let isStopped = false;
	let running: Promise<void> = Promise.resolve();
	const runIn = (ms: number): Timer =>
		clock.setTimeout(() => {
			running = work().then((nextMs) => {
				if (!isStopped) timer = runIn(nextMs);
			});
		}, ms);
	let timer = runIn(ms);
	return {
		async stop() {
			isStopped = true;
			timer.cancel();
			await running;
		},
	};
}

export interface Repetition {
	/** Calls nothing more, and resolves once no call is running. */
	stop(): Promise<void>;
}

/** Settles as the promise does, or resolves with null after `ms`. */
export function within<T>(clock: Pick<Clock, "setTimeout">, ms: number, promise: Promise<T>): Promise<T | null> {
	return new Promise((resolve, reject) => {
		const timer = clock.setTimeout(() => resolve(null), ms);
		promise.then(resolve, reject).finally(() => timer.cancel());
	});
}

/**
 * If a timer fires this much too late, milliseconds, the process stood still (it was stopped, or its machine was), and what
 * has arrived in the meantime may not have been read.
 */
export const STOOD_STILL_MS = 250;

/** How long to rest after work that began at monotonic `since`: `times` as long as it took, or at most `mostMs`. */
export function restAfter(clock: Pick<Clock, "elapsed">, since: number, times: number, mostMs: number): number {
	return Math.min(times * (clock.elapsed() - since), mostMs);
}

/** Cancels a timer that hasn't fired; has no effect afterwards. */
export interface Timer {
	cancel(): void;
}

/**
 * The longest wait passed to the operating system. Beyond 24.8 days `setTimeout` fires immediately, and the wall clock
 * may be set during a wait, so anything that waits for a time of day checks again at least this often.
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

/** Adds up how long something waited. Waits that overlap count once. */
export class Stopwatch {
	readonly #clock: Pick<Clock, "elapsed">;
	#running = 0;
	#startedAt = 0;
	#earlierMs = 0;

	constructor(clock: Pick<Clock, "elapsed">) {
		this.#clock = clock;
	}

	/** Time so far, milliseconds. */
	get ms(): number {
		return this.#earlierMs + (this.#running === 0 ? 0 : this.#clock.elapsed() - this.#startedAt);
	}

	/** Runs until the promise is settled. */
	async during(wait: Promise<void>): Promise<void> {
		if (this.#running++ === 0) this.#startedAt = this.#clock.elapsed();
		try {
			await wait;
		} finally {
			if (--this.#running === 0) this.#earlierMs += this.#clock.elapsed() - this.#startedAt;
		}
	}
}
