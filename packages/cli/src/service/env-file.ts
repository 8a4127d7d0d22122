import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { UsageError } from "../command-error.ts";

/**
 * Adds a file's variables to the environment, apart from those that are set already.
 *
 * @throws UsageError if the file can't be read, or isn't UTF-8
 */
export function readEnvFile(path: string | undefined): void {
	if (path === undefined) return;
	let text: string;
	try {
		// Windows' editors begin a file with a byte order mark, which would be part of the first name.
		text = readFileSync(path, "utf8").replace(/^\ufeff/, "");
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		const why = code === "ENOENT" ? "there is no such file" : message;
		throw new UsageError([`--env-file ${path} can't be read: ${why}.`]);
	}
	if (text.includes("\0"))
		throw new UsageError([`--env-file ${path} isn't UTF-8, but perhaps UTF-16: save it as UTF-8.`]);
	for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value;
}
