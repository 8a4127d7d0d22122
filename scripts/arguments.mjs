// Plain JavaScript for Node 20 or later.
import { parseArgs } from "node:util";

/**
 * Reads the command line. With `--help`, prints the usage and ends the process. Ends it with exit code 2 if an option is
 * unknown, lacks its value or takes none.
 * @param {import("node:util").ParseArgsConfig["options"]} options
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
