import { parseJson } from "./parse-json.ts";

const OPEN = new Set(["{", "["]);
const CLOSE = new Set(["}", "]"]);

/** Indentation stops growing at this depth, so that hostile nesting can't inflate the text. */
const MAX_DEPTH = 32;
/** A text that would become longer than this, in characters, stays unchanged. */
const MAX_LENGTH = 4 * 1_024 * 1_024;

/**
 * The tokens of JSON: strings, punctuation, and anything between them. No loop contains alternatives, so
 * that long strings take neither stack nor time.
 */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * JSON with line breaks and indentation. Works on the text, so numbers, escapes and the order of keys stay unchanged.
 * Null for text that isn't JSON or would become far too large.
 */
export function prettyJson(text: string): string | null {
	if (parseJson(text) === undefined) return null;
	const out: string[] = [];
	let depth = 0;
	let length = 0;
	let before = "";
	const put = (piece: string) => {
		out.push(piece);
		length += piece.length;
	};
	const breakLine = () => put(`\n${"  ".repeat(Math.min(depth, MAX_DEPTH))}`);
	for (const [token] of text.matchAll(TOKEN)) {
		if (CLOSE.has(token)) {
			depth--;
			if (!OPEN.has(before)) breakLine();
		} else if (OPEN.has(before) || before === ",") {
			breakLine();
		}
		put(token === ":" ? ": " : token);
		if (OPEN.has(token)) depth++;
		before = token;
		if (length > MAX_LENGTH) return null;
	}
	return out.join("");
}

/** The parts of a line of pretty JSON, for coloring: the text before the key, the key, and the rest. */
export interface JsonLine {
	/** From 1 on. */
	readonly number: number;
	readonly indent: string;
	/** With its quotation marks; empty where the line has no key. */
	readonly key: string;
	readonly rest: string;
}

const KEYED = /^(\s*)("[^"\\]*(?:\\.[^"\\]*)*")(: .*)$/s;

/** Takes the lines of {@link prettyJson} apart. */
export const jsonLines = (pretty: string): readonly JsonLine[] =>
	pretty.split("\n").map((line, index) => {
		const [, indent = "", key = "", rest = line] = KEYED.exec(line) ?? [];
		return { number: index + 1, indent, key, rest };
	});
