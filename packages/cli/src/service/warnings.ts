/**
 * Passes Node's warnings, such as those of a migration that waits, to `report` instead of printing them as Node does.
 * Does nothing if Node was told to print none.
 */
export function reportWarnings(report: (warning: Error) => void): void {
	if (process.listenerCount("warning") === 0) return;
	process.removeAllListeners("warning");
	process.on("warning", report);
}
