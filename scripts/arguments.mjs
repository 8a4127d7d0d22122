// The options of a command. Plain JavaScript for Node 20 or later.
import { parseArgs } from "node:util";

/**
 * Reads the command line. Ends the process after `--help`, which prints the usage, and with 2 if an option is unknown,
 * lacks its value or takes none.
 * @template {import("node:util").ParseArgsConfig["options"]} Options
 * @param {NonNullable<Options>} options
 * @param {string} usage
 * @returns {Record<string, string | boolean | undefined>}
 */
export function readArguments(options, usage) {
	let values;
	try {
		values = parseArgs({ options: { ...options, help: { type: "boolean" } } }).values;
	} catch (error) {
		console.error(`${error.message}\n\n${usage}`);
		process.exit(2);
	}
	if (values.help) {
		console.log(usage);
		process.exit(0);
	}
	return values;
}
