import { setTimeout as delay } from "node:timers/promises";

const ASK_MS = 200;

/** The time is up; the message says what we waited for. */
export class TooLate extends Error {}

/** Polls until the result is neither null nor false, and resolves to it. Rejects with {@link TooLate}. */
export async function until<T>(
	what: string,
	withinMs: number,
	signal: AbortSignal,
	ask: () => Promise<T | null | false> | T | null | false,
): Promise<T> {
	const end = performance.now() + withinMs;
	for (;;) {
		signal.throwIfAborted();
		const answer = await ask();
		if (answer !== null && answer !== false) return answer;
		if (performance.now() > end) throw new TooLate(`${what}: not within ${withinMs / 1_000} s.`);
		await delay(ASK_MS, undefined, { signal });
	}
}
