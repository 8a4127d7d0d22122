/** Finding a text in an event's body. */

/** UTF-16 units shown before and after a match. */
const AROUND = 60;

export interface Excerpt {
	readonly excerpt: string;
	readonly matchStart: number;
	readonly matchLength: number;
}

/**
 * Matches the text in any case, as it is or as JSON writes it within a string: publishers choose how, and bodies keep
 * what they sent.
 */
export function textPattern(text: string): RegExp {
	const json = JSON.stringify(text).slice(1, -1);
	const ascii = json.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
	const ways = new Set([text, json, json.replaceAll("/", "\\/"), ascii]);
	return new RegExp([...ways].map((way) => RegExp.escape(way)).join("|"), "iu");
}

/** The first match in a body with some text around it; null if there is none. */
export function findText(body: Uint8Array, pattern: RegExp): Excerpt | null {
	const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString();
	const match = pattern.exec(text);
	if (match === null) return null;
	const from = Math.max(0, match.index - AROUND);
	const end = match.index + match[0].length;
	// A cut may split a pair of surrogates.
	const excerpt = text.slice(from, end + AROUND).toWellFormed();
	return { excerpt, matchStart: match.index - from, matchLength: match[0].length };
}
