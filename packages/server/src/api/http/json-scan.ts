/**
 * Scans the bytes of a JSON text before it is parsed: how deep it nests, and where the elements of its one list are. Parsing
 * two mebibytes of `[],[],…` blocks the event loop for a tenth of a second; this takes no memory, stops at the first limit,
 * and lets each element be parsed separately.
 *
 * It doesn't validate. For valid JSON its numbers are exact (see the tests); for anything else it returns something in
 * linear time, and JSON.parse then rejects the text.
 */
import { escapePointer } from "./validate.ts";

/** Bytes that give JSON its structure (RFC 8259, 2). */
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;

/** `start` is the first byte, `end` the one after the last. */
interface Span {
	readonly start: number;
	readonly end: number;
}

/**
 * The positions of a list's elements, without surrounding space; empty spans where the text isn't valid. Plain numbers,
 * because an object per element would live as long as its batch, and V8 would soon allocate all such objects in the old
 * generation.
 */
export class Spans {
	/** Start and end of the first element, then of the second … */
	readonly #bounds: Int32Array;

	constructor(bounds: Int32Array) {
		this.#bounds = bounds;
	}

	get length(): number {
		return this.#bounds.length / 2;
	}

	start(index: number): number {
		return this.#bounds[2 * index]!;
	}

	end(index: number): number {
		return this.#bounds[2 * index + 1]!;
	}

	size(index: number): number {
		return this.end(index) - this.start(index);
	}
}

/** A list that is a member of the top-level object. */
export interface ScannedList {
	/** The whole list, brackets included. */
	readonly span: Span;
	readonly items: Spans;
}

export type Scan =
	| { readonly kind: "fits"; readonly list: ScannedList | null }
	/** Nests deeper than allowed, at this byte. */
	| { readonly kind: "deep"; readonly at: number }
	/** The list has more elements than allowed, at this byte. */
	| { readonly kind: "long"; readonly at: number }
	/** The list has no end, or another member with its name follows it. */
	| { readonly kind: "broken"; readonly at: number };

interface ScanLimits {
	/** The maximum nesting of arrays and objects. */
	readonly nesting: number;
	/** The member whose elements are wanted, and how many it may have. */
	readonly list?: { readonly member: string; readonly items: number };
}

/** @param bytes UTF-8 without a byte order mark */
export function scanJson(bytes: Uint8Array, { nesting, list: wanted }: ScanLimits): Scan {
	const { length } = bytes;
	const member = wanted && Buffer.from(wanted.member);
	let items = 0;
	let list: ScannedList | null = null;
	let depth = 0;
	/** In the top-level object: whether the next string is a name, and whether the last name was the list's. */
	let atName = false;
	let isMember = false;
	/** The opening bracket of the list being read, else -1. */
	let listStart = -1;
	/** The first byte of the element being read, else -1. */
	let start = -1;
	let at = 0;
	while (at < length) {
		const byte = bytes[at]!;
		if (byte <= SPACE) {
			at++;
			continue;
		}
		// Deeper inside, only the nesting matters.
		const inside = depth > 2 || (depth === 2 && listStart === -1);
		if (depth === 2 && listStart !== -1) {
			if (byte === COMMA || byte === CLOSE_BRACKET || byte === CLOSE_BRACE) {
				if (byte === COMMA || start !== -1 || items > 0) {
					if (items >= wanted!.items) return { kind: "long", at: start === -1 ? at : start };
					note(items++, start === -1 ? at : start, start === -1 ? at : endBefore(bytes, at));
					start = -1;
				}
				if (byte === CLOSE_BRACE) return { kind: "broken", at };
				at++;
				if (byte === COMMA) continue;
				list = { span: { start: listStart, end: at }, items: new Spans(noted.slice(0, 2 * items)) };
				listStart = -1;
				depth = 1;
				continue;
			}
			if (start === -1) start = at;
		}
		switch (byte) {
			case QUOTE: {
				const from = at + 1;
				at = endOfString(bytes, from);
				if (depth === 1 && atName) {
					isMember = member !== undefined && isName(bytes, from, at, member);
					// JSON.parse would take the last one, even if it is no list.
					if (isMember && list) return { kind: "broken", at: from - 1 };
					atName = false;
				}
				break;
			}
			case OPEN_BRACE:
			case OPEN_BRACKET:
				if (++depth > nesting) return { kind: "deep", at };
				if (depth === 1) atName = byte === OPEN_BRACE;
				else if (depth === 2) {
					if (isMember && byte === OPEN_BRACKET) listStart = at;
					isMember = false;
				}
				break;
			case CLOSE_BRACE:
			case CLOSE_BRACKET:
				if (depth > 0) depth--;
				atName = false;
				break;
			case COMMA:
				if (depth === 1) atName = true;
				break;
			case COLON:
				break;
			default:
				if (depth === 1) isMember = false;
				if (inside) while (at + 1 < length && PLAIN[bytes[at + 1]!] === 1) at++;
		}
		at++;
	}
	return listStart === -1 ? { kind: "fits", list } : { kind: "broken", at: length };
}

/** The bounds of the elements being read; a text is scanned in one go. */
let noted = new Int32Array(256);

function note(index: number, start: number, end: number): void {
	if (2 * index === noted.length) {
		const larger = new Int32Array(2 * noted.length);
		larger.set(noted);
		noted = larger;
	}
	noted[2 * index] = start;
	noted[2 * index + 1] = end;
}

/** Bytes that neither open nor close anything, nor begin a string. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
	[QUOTE, OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACE, CLOSE_BRACKET].includes(byte) ? 0 : 1,
);

/** Most strings are no longer than this, bytes: checking each byte is faster than a search by the runtime. */
const SHORT_STRING = 32;

/** The closing quote of the string whose contents begin at `from`, or the end. */
function endOfString(bytes: Uint8Array, from: number): number {
	let at = from;
	const { length } = bytes;
	const short = Math.min(length, from + SHORT_STRING);
	while (at < short) {
		const byte = bytes[at]!;
		if (byte === QUOTE) return at;
		at += byte === BACKSLASH ? 2 : 1;
	}
	for (let quote = bytes.indexOf(QUOTE, at); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
		let backslashes = 0;
		while (quote - backslashes > at && bytes[quote - backslashes - 1] === BACKSLASH) backslashes++;
		if (backslashes % 2 === 0) return quote;
		at = quote + 1;
	}
	return length;
}

/** The index after the last byte before `at` that isn't a space. */
function endBefore(bytes: Uint8Array, at: number): number {
	let end = at;
	while (bytes[end - 1]! <= SPACE) end--;
	return end;
}

/** Whether the string between these bytes, without quotes, spells the name, with or without escapes. */
function isName(bytes: Uint8Array, start: number, end: number, name: Buffer): boolean {
	const literal = Buffer.from(bytes.buffer, bytes.byteOffset + start, Math.max(0, Math.min(end, bytes.length) - start));
	if (literal.equals(name)) return true;
	// An escaped character takes at most six bytes.
	if (literal.length > name.length * 6 || !literal.includes(BACKSLASH)) return false;
	try {
		return JSON.parse(`"${literal.toString()}"`) === name.toString();
	} catch {
		return false;
	}
}

/** Where a scan is within one array or object: an index, or a name (a JSON string, quotes included). */
type Level = { index: number } | { name: string };

/**
 * The JSON Pointer (RFC 6901) to the value that begins at this byte. The bytes before it are known to nest properly; if
 * they aren't valid JSON in other ways, the pointer may be arbitrary. Its length is bounded by their nesting.
 */
export function pointerAt(bytes: Buffer, end: number): string {
	const levels: Level[] = [];
	/** Where the last string began, and the index after its end. */
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

/** Longer names are cut to this many bytes, since they are only shown. */
const MAX_NAME = 100;

function nameOf(literal: string): string {
	try {
		return String(JSON.parse(literal));
	} catch {
		return literal.slice(1).toWellFormed();
	}
}
