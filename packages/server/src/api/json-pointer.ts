import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./json-bytes.ts";
import { escapePointer } from "./validate.ts";

/** Where a scan is within one array or object: at which index, or at which name (a JSON string, quotes included). */
type Level = { index: number } | { name: string };

/**
 * The JSON Pointer (RFC 6901) to the value that begins at this byte. Up to there the bytes are known to nest properly; if
 * they aren't JSON otherwise, the pointer may lead anywhere. Its length is bounded by how deep they nest.
 */
export function pointerAt(bytes: Buffer, end: number): string {
	const levels: Level[] = [];
	/** Where the last string began, and behind its end. */
	let [start, behind] = [0, 0];
	for (let at = 0; at < end; at++) {
		const level = levels.at(-1);
		switch (bytes[at]) {
			case QUOTE:
				start = at;
				while (++at < end && bytes[at] !== QUOTE) if (bytes[at] === BACKSLASH) at++;
				behind = at + 1;
				break;
			case COLON:
				if (level && "name" in level) level.name = bytes.toString("utf8", start, Math.min(behind, start + MAX_NAME));
				break;
			case COMMA:
				if (level && "index" in level) level.index++;
				break;
			case OPEN_BRACKET:
				levels.push({ index: 0 });
				break;
			case OPEN_BRACE:
				levels.push({ name: "" });
				break;
			case CLOSE_BRACKET:
			case CLOSE_BRACE:
				levels.pop();
		}
	}
	return levels.map((level) => `/${"index" in level ? level.index : escapePointer(nameOf(level.name))}`).join("");
}

/** A longer name is cut, bytes: it is only shown. */
const MAX_NAME = 100;

function nameOf(literal: string): string {
	try {
		return String(JSON.parse(literal));
	} catch {
		return literal.slice(1).toWellFormed();
	}
}
