/** Options that make Node write warnings to a file, or add stacks. */
const TOLD_HOW = /--(?:redirect-warnings|trace-warnings|trace-deprecation)\b/;
const DISABLED = /--disable-warning[= ](\S+)/g;

/**
 * Passes Node's warnings, such as those of a migration that waits, to `report` instead of printing them as Node does.
 * Those that `--disable-warning` names are left out. Does nothing if Node was told to print none, to write them to a
 * file, or to add stacks.
 */
export function reportWarnings(report: (warning: NodeWarning) => void): void {
	const { NODE_OPTIONS, NODE_REDIRECT_WARNINGS } = process.env;
	const options = [...process.execArgv, NODE_OPTIONS].join(" ");
	if (process.listenerCount("warning") === 0 || NODE_REDIRECT_WARNINGS || TOLD_HOW.test(options)) return;
	const disabled = new Set([...options.matchAll(DISABLED)].map(([, named]) => named));
	process.removeAllListeners("warning");
	process.on("warning", (warning: NodeWarning) => {
		if (!disabled.has(warning.name) && !disabled.has(warning.code)) report(warning);
	});
}

interface NodeWarning extends Error {
	readonly code?: string;
	readonly detail?: string;
}
