import { cutEnd } from "../text/cut.ts";
import { inertText } from "../text/json-text-inert.ts";

/** Characters shown. */
const LENGTH = 160;

/** Where responses in JSON say what is wrong; the first that is a text is quoted. */
const SAYING = ["message", "error", "detail", "title"] as const;

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
	try {
		const object = JSON.parse(body) as Partial<Record<string, unknown>>;
		return SAYING.map((name) => object[name]).find((said) => typeof said === "string" && oneLine(said) !== "") as
			| string
			| undefined;
	} catch {
		return undefined;
	}
}
