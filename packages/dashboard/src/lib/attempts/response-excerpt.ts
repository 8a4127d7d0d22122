import { inertText } from "../text/json-text-inert.ts";

/** Characters shown. */
const LENGTH = 160;

/** The beginning of a response's body in one line; "" if it is a page, which says little in one line. */
export function responseExcerpt(body: string): string {
	const line = inertText(body.replaceAll(/\s+/g, " ").trim());
	if (line.startsWith("<")) return "";
	return line.length > LENGTH ? `${line.slice(0, LENGTH)}…` : line;
}
