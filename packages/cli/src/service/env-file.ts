import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { UsageError } from "../command-error.ts";

/**
 * Adds a file's variables to the environment, apart from those that are set already.
 *
 * @throws UsageError if the file can't be read
 */
export function readEnvFile(path: string | undefined): void {
	if (path === undefined) return;
	let text: string;
	try {
		text = readFileSync(path, "utf8");
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		const why = code === "ENOENT" ? "there is no such file" : message;
		throw new UsageError([`--env-file ${path} can't be read: ${why}.`]);
	}
	for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value;
}
