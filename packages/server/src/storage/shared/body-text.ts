/** Finding a text in an event's body, or in a response. */
import type { Excerpt, ReadLimit } from "../port/search.ts";
import { toAttemptId } from "./deliveries.ts";

/** UTF-16 units shown before and after a match. */
const AROUND = 60;

/**
 * Finds the first match in a body, with some text around it; null if there is none. The text matches in any case, as it
 * is or as JSON writes it within a string: publishers choose how, and bodies keep what they sent.
 */
export function textFinder(text: string): (body: Uint8Array) => Excerpt | null {
	const json = JSON.stringify(text).slice(1, -1);
	const ascii = json.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
	const ways = new Set([text, json, json.replaceAll("/", "\\/"), ascii]);
	const needles = [...ways].map((way) => new Needle(foldCase(way)));
	return (body) => {
		const whole = Buffer.from(body.buffer, body.byteOffset, body.length).toString();
		const folded = foldCase(whole);
		let [start, length] = [folded.length, 0];
		for (const needle of needles) {
			const found = needle.indexIn(folded, start + needle.length - 1);
			if (found !== -1) [start, length] = [found, needle.length];
		}
		if (length === 0) return null;
		const from = Math.max(0, start - AROUND);
		// A cut may split a pair of surrogates.
		const excerpt = whole.slice(from, start + length + AROUND).toWellFormed();
		return { excerpt, matchStart: start - from, matchLength: length };
	};
}

/** A row of the delivery log as a search reads it. */
export interface ResponseRow {
	readonly id: string;
	readonly seq: number;
	readonly started_at: number;
	readonly response_body: Uint8Array;
}

/** Searches rows, newest first, as far as the limit allows. Those of test events never match. */
export function searchRows<R extends ResponseRow>(
	rows: readonly R[],
	text: string,
	{ maxEvents, maxBytes }: ReadLimit,
) {
	const find = textFinder(text);
	const matching: { readonly row: R; readonly match: Excerpt }[] = [];
	let attempts = 0;
	let bytes = 0;
	for (const row of rows) {
		bytes += row.response_body.length;
		if (attempts > 0 && bytes > maxBytes) break;
		attempts++;
		const match = row.seq < 0 ? null : find(row.response_body);
		if (match !== null) matching.push({ row, match });
	}
	const last = rows[attempts - 1];
	const isOver = attempts === rows.length && attempts < maxEvents;
	const next = last === undefined || isOver ? null : toAttemptId(last.id);
	return { matching, attempts, reached: last?.started_at ?? null, next };
}

/** A text to find by Knuth, Morris and Pratt: in linear time, whatever a hostile publisher and reader choose. */
class Needle {
	readonly length: number;
	readonly #units: Uint16Array;
	/** For each length of a partial match, the longest shorter one that it ends with. */
	readonly #shorter: Uint16Array;

	constructor(units: Uint16Array) {
		const shorter = new Uint16Array(units.length + 1);
		for (let i = 1, matched = 0; i < units.length; i++) {
			while (matched > 0 && units[matched] !== units[i]) matched = shorter[matched]!;
			if (units[matched] === units[i]) matched++;
			shorter[i + 1] = matched;
		}
		this.length = units.length;
		this.#units = units;
		this.#shorter = shorter;
	}

	/** Where it first is in the text before `end`; -1 if nowhere. */
	indexIn(text: Uint16Array, end: number): number {
		const [units, shorter, length] = [this.#units, this.#shorter, this.length];
		const most = Math.min(end, text.length);
		for (let i = 0, matched = 0; i < most; i++) {
			const unit = text[i];
			while (matched > 0 && units[matched] !== unit) matched = shorter[matched]!;
			if (units[matched] === unit) matched++;
			if (matched === length) return i + 1 - matched;
		}
		return -1;
	}
}

/** Lower-case characters that aren't the lower case of their upper case, such as the final sigma, and which that is. */
const VARIANTS = new Uint16Array(0x10000);
for (const variant of "µſ\u0345ςϐϑϕϖϰϱϵ\u1c80\u1c81\u1c82\u1c83\u1c84\u1c85\u1c86\u1c87\u1c88ẛ\u1fbe")
	VARIANTS[variant.charCodeAt(0)] = variant.toUpperCase().toLowerCase().charCodeAt(0);

/** The UTF-16 units of a text without case: as many, in linear time. */
function foldCase(text: string): Uint16Array {
	let lower = text.toLowerCase();
	// Only the lower case of İ is longer.
	if (lower.length !== text.length) lower = text.replaceAll("İ", "i").toLowerCase();
	const units = new Uint16Array(lower.length);
	Buffer.from(units.buffer).write(lower, "utf16le");
	for (let i = 0; i < units.length; i++) {
		const variant = VARIANTS[units[i]!]!;
		if (variant !== 0) units[i] = variant;
	}
	return units;
}
