import { cutEnd } from "../text/cut.ts";
import { inertText } from "../text/json-text-inert.ts";

/** Characters shown. */
const LENGTH = 160;

/** Members in which responses in JSON say what is wrong; the first with a text is quoted. */
const SAYING = ["message", "msg", "error", "errors", "detail", "title", "reason", "description"] as const;
/** They may be in one another, and in lists: `{"error":{"message":…}}`, `{"detail":[{"msg":…}]}`. */
const DEPTH = 3;
/** The first of them in an object that was cut off, if it is a whole text. */
const IN_CUT_OBJECT = /"(?:message|msg|error|detail|title)"\s*:\s*("(?:[^"\\]|\\.)+")/;

/**
 * What a response's body says, in one line and cut: its message if it is a JSON object with one, otherwise its beginning.
 * "" if it is a page, which says little in one line.
 */
export function responseExcerpt(body: string): string {
	const line = oneLine(messageIn(body) ?? body);
	if (line.startsWith("<")) return "";
	return cutEnd(line, LENGTH);
}

const oneLine = (text: string) => inertText(text.replaceAll(/\s+/g, " ").trim());

function messageIn(body: string): string | undefined {
	// Only objects: texts and lists have no such members.
	if (!/^\s*\{/.test(body)) return undefined;
	return textIn(parsed(body) ?? parsed(IN_CUT_OBJECT.exec(body)?.[1] ?? ""), DEPTH);
}

function parsed(json: string): unknown {
	try {
		return JSON.parse(json) as unknown;
	} catch {
		return undefined;
	}
}

/** @param depth how many more lists and objects to look into */
function textIn(value: unknown, depth: number): string | undefined {
	if (typeof value === "string") return oneLine(value) === "" ? undefined : value;
	if (typeof value !== "object" || value === null || depth === 0) return undefined;
	if (Array.isArray(value)) return textIn(value[0], depth - 1);
	const object = value as Partial<Record<string, unknown>>;
	for (const name of SAYING) {
		const text = textIn(object[name], depth - 1);
		if (text !== undefined) return text;
	}
	return undefined;
}
