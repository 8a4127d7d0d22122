/**
 * Bounded waits. Each one rejects with a sentence that says what it waited for, so that a test fails instead of hanging.
 */

/** Longest wait, milliseconds. Less than a test's timeout, so that the test reports what it waited for. */
export const PATIENCE_MS = 150_000;
/** How often {@link until} asks without a pause in between, and its longest pause, milliseconds. */
const EAGER_ASKS = 8;
const PAUSE_MS = 16;

/**
 * Polls until the result is neither false, null nor undefined, and resolves to it. For conditions without a signal,
 * such as another session waiting for a lock.
 *
 * @param what what is awaited, for the error
 */
export async function until<T>(what: string, ask: () => T | Promise<T>): Promise<NonNullable<Exclude<T, false>>> {
	let isLate = false;
	async function poll(): Promise<NonNullable<Exclude<T, false>>> {
		for (let asks = 1; ; asks++) {
			const answer = await ask();
			if (answer !== false && answer !== null && answer !== undefined) return answer as NonNullable<Exclude<T, false>>;
			if (isLate) throw tooLate(what);
			// Others may run in between, even if the result came immediately. What takes longer gets the processor for itself.
			const pauseMs = Math.min(PAUSE_MS, 2 ** (asks - EAGER_ASKS));
			await new Promise<void>((resolve) => (asks < EAGER_ASKS ? setImmediate(resolve) : setTimeout(resolve, pauseMs)));
		}
	}
	try {
		return await within(what, poll());
	} finally {
		isLate = true;
	}
}

/** Resolves to the promise's result. Rejects if that takes too long. */
export async function within<T>(what: string, promise: Promise<T>): Promise<T> {
	const late = Promise.withResolvers<never>();
	const timer = setTimeout(() => late.reject(tooLate(what)), PATIENCE_MS);
	try {
		return await Promise.race([promise, late.promise]);
	} finally {
		clearTimeout(timer);
	}
}

/**
 * For a loop that does the work itself: call the returned function in each iteration. It throws once the loop has taken
 * too long.
 */
export function patience(what: string): () => void {
	const end = performance.now() + PATIENCE_MS;
	return () => {
		if (performance.now() > end) throw tooLate(what);
	};
}

function tooLate(what: string): Error {
	return new Error(`Waited for ${PATIENCE_MS / 1_000} s for ${what}.`);
}
