import { cutEnd } from "../text/cut.ts";
import { inertText } from "../text/inert-text.ts";
import { parseJson } from "../text/parse-json.ts";

/** Characters shown. */
const LENGTH = 160;

/** Members in which responses in JSON say what is wrong; the first with a text is quoted. */
const SAYING = ["message", "msg", "error", "errors", "detail", "title", "reason", "description"] as const;
/** They may be in one another, and in lists: `{"error":{"message":…}}`, `{"detail":[{"msg":…}]}`. */
const DEPTH = 3;
const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;
/** Members that aren't objects or lists. */
const MEMBERS = String.raw`\s*(?:${TEXT}\s*:\s*(?:${TEXT}|[\w.+-]+)\s*,\s*)*?`;
/**
 * The first of them in an object that was cut off, if it is a whole text. Not in other objects: a receiver may repeat the
 * event, which has titles and messages, too.
 */
const IN_CUT_OBJECT = new RegExp(
	String.raw`^\s*\{${MEMBERS}(?:"(?:message|msg|errors?|detail)"\s*:\s*(?:\[\s*)?\{${MEMBERS}){0,2}?"(?:message|msg|error|detail|title)"\s*:\s*("(?:[^"\\]|\\.)+")`,
);

/** The first line of a trace in an object that was cut off: Spring's message comes after it. */
const TRACE_IN_CUT_OBJECT = /"trace"\s*:\s*("(?:[^"\\]|\\[^nr]){1,1000})\\[nr]/;
/** The first line of preformatted text, in which Express says what went wrong. */
const PREFORMATTED = /<pre>([^<\n]{1,1000})/i;
const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: " ", amp: "&" };

/**
 * What a response's body says, in one line and cut: its message if it is a JSON object with one, otherwise its beginning.
 * Of a page, the first line of preformatted text; "" if it has none, because it says little in one line.
 */
export function responseExcerpt(body: string): string {
	if (/^\s*</.test(body)) return cutEnd(oneLine(unescaped(PREFORMATTED.exec(body)?.[1] ?? "")), LENGTH);
	const line = oneLine(messageIn(body) ?? body);
	return cutEnd(line, LENGTH);
}

const oneLine = (text: string) => inertText(text.replaceAll(/\s+/g, " ").trim());

function messageIn(body: string): string | undefined {
	// Only objects: texts and lists have no such members.
	if (!/^\s*\{/.test(body)) return undefined;
	return textIn(parseJson(body) ?? parsedPart(body), DEPTH);
}

/** What says most in an object that was cut off. */
function parsedPart(body: string): unknown {
	const trace = TRACE_IN_CUT_OBJECT.exec(body)?.[1];
	const [, text = ""] = IN_CUT_OBJECT.exec(body) ?? [];
	return parseJson(trace === undefined || /"(?:message|msg)"\s*:\s*"[^"]/.test(body) ? text : `${trace}"`);
}

const unescaped = (html: string) =>
	html.replaceAll(/&([a-z]{2,4}|#39);/g, (all, name: string) => ENTITIES[name] ?? all);

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
