/** Less than the timeout of a test, so that what was waited for is reported instead of that. */
const PATIENCE_MS = 50_000;

/**
 * Asks again and again until the answer is neither false, null nor undefined, and resolves to it. For what gives no signal:
 * a lock that another session waits for, say. Rejects after 50 seconds.
 *
 * @param what what is waited for, for the error
 */
export async function until<T>(what: string, ask: () => T | Promise<T>): Promise<NonNullable<Exclude<T, false>>> {
	const end = performance.now() + PATIENCE_MS;
	for (;;) {
		const answer = await ask();
		if (answer !== false && answer !== null && answer !== undefined) return answer as NonNullable<Exclude<T, false>>;
		if (performance.now() > end) throw new Error(`Waited for ${PATIENCE_MS / 1_000} s for ${what}.`);
		// Others may run in between, even if the answer was there at once.
		await new Promise((resolve) => setImmediate(resolve));
	}
}
