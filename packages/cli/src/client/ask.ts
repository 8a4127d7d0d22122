/** Whether a question, which goes to standard error, is seen and can be answered. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

interface Context {
	readonly output: NodeJS.WritableStream;
	readonly signal: AbortSignal;
}

/** Asks at the terminal, on standard error. Rejects if the user leaves the question with Ctrl-C or Ctrl-D. */
export async function ask<T>(prompt: (context: Context) => Promise<T>): Promise<T> {
	const left = new AbortController();
	const leave = (): void => left.abort();
	// Ctrl-D only ends a prompt's reading, and open connections would keep the process waiting.
	process.stdin.once("pause", leave);
	try {
		return await prompt({ output: process.stderr, signal: left.signal });
	} finally {
		process.stdin.off("pause", leave);
	}
}
