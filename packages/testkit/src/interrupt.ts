/** The exit codes of interrupted programs: 128 and the number of the signal. */
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Ends this process by `end` when it is interrupted. Further signals, such as npm's own copy of Ctrl-C, are ignored: they
 * must not end it before it has cleaned up.
 */
export function onInterrupt(end: (exitCode: number) => void): void {
	let isEnding = false;
	for (const [signal, exitCode] of Object.entries(EXIT_CODES))
		process.on(signal, () => {
			if (isEnding) return;
			isEnding = true;
			end(exitCode);
		});
}
