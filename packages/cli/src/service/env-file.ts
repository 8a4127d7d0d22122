import { readFileSync } from "node:fs";
import { UsageError } from "../command-error.ts";

/**
 * Adds a file's variables to the environment, apart from those that are set already.
 *
 * @throws UsageError if the file can't be read, isn't UTF-8, or has a line about Posthorn that isn't a variable
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
	const { variables, wrong } = parseEnvFile(text, (name) => process.env[name] !== undefined);
	// The line may contain a secret, so it isn't shown.
	if (wrong.length > 0)
		throw new UsageError(
			wrong.map((line) => `--env-file ${path}: line ${line} is not a variable: write it as NAME=VALUE.`),
		);
	for (const [name, value] of variables) process.env[name] ??= value;
}

const ASSIGNMENT = /^\s*(?:export\s+)?([\w.-]+)\s*=(\s*)(.*)$/;
const OURS = /^\s*(?:export\s+)?POSTHORN_/;
/** What may follow a value in quotes: a comment, or what the Bourne shell needs to export the variable. */
const END = /^\s*(?:;\s*(?:export\s[\w\s]*)?)?(?:#.*)?$/;

/**
 * The variables of a file, with the last value of each, and the numbers of lines that begin like a Posthorn variable but
 * aren't one.
 *
 * Unlike Node's `parseEnv`, it reads files as systemd, shells and containers do: a `#` begins a comment only after a
 * space, and an empty value doesn't take the next line. Values may be in quotes and span lines; in double quotes, `\n` is
 * a line break. A name without a value, which shells export and Docker takes from the environment, has to be set by
 * the file or be set already.
 */
export function parseEnvFile(
	text: string,
	isSet: (name: string) => boolean = () => false,
): { variables: ReadonlyMap<string, string>; wrong: readonly number[] } {
	const variables = new Map<string, string>();
	const wrong: number[] = [];
	const named: { readonly name: string; readonly line: number }[] = [];
	const lines = text.split(/\r\n|\n|\r/);
	for (let at = 0; at < lines.length; at++) {
		const line = lines[at]!;
		const [, name, space = "", written] = ASSIGNMENT.exec(line) ?? [];
		if (name === undefined || written === undefined) {
			const names = namesOf(line);
			if (names !== null) named.push(...names.map((each) => ({ name: each, line: at + 1 })));
			else if (OURS.test(line)) wrong.push(at + 1);
			continue;
		}
		const quoted = /^["'`]/.test(written) ? quotedValue([written, ...lines.slice(at + 1)]) : null;
		if (quoted === null) variables.set(name, (space + written).replace(/\s#.*$/, "").trim());
		else if (OURS.test(line) && !END.test(quoted.rest)) wrong.push(at + 1);
		else variables.set(name, quoted.value);
		at += quoted?.lines ?? 0;
	}
	for (const { name, line } of named)
		if (OURS.test(name) && !variables.has(name) && !isSet(name) && !wrong.includes(line)) wrong.push(line);
	return { variables, wrong: wrong.sort((a, b) => a - b) };
}

/** The names on a line without values; null if it isn't one. */
function namesOf(line: string): readonly string[] | null {
	const words = line
		.replace(/\s#.*$/, "")
		.trim()
		.split(/\s+/);
	const names = words[0] === "export" ? words.slice(1) : words;
	const isList = names.every((name) => /^\w+$/.test(name)) && (words.length === 1 || names !== words);
	return isList ? names : null;
}

/** The value in quotes at the start of these lines, the rest of its last line, and how many lines follow the first. */
function quotedValue(lines: readonly string[]): { value: string; rest: string; lines: number } | null {
	const text = lines.join("\n");
	const end = text.indexOf(text[0]!, 1);
	if (end < 0) return null;
	const value = text.slice(1, end);
	const [rest = ""] = text.slice(end + 1).split("\n", 1);
	return {
		value: text[0] === '"' ? value.replaceAll("\\n", "\n") : value,
		rest,
		lines: value.split("\n").length - 1,
	};
}
