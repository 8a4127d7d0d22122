import { isStatus } from "./error.ts";

/** Repeats a call that the service refuses as too early, once it may; null if it was aborted meanwhile. */
export async function whenItMay<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
	for (;;) {
		try {
			return await call();
		} catch (error) {
			if (!isStatus(error, 429) || error.retryAfter === null) throw error;
			await wait(error.retryAfter * 1_000, signal);
			if (signal.aborted) return null;
		}
	}
}

const wait = (ms: number, signal: AbortSignal): Promise<void> =>
	new Promise((done) => {
		const end = () => {
			window.clearTimeout(timer);
			signal.removeEventListener("abort", end);
			done();
		};
		const timer = window.setTimeout(end, ms);
		signal.addEventListener("abort", end);
		if (signal.aborted) end();
	});
