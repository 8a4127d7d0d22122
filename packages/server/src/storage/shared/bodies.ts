/** What is found in the bodies of events and responses: references, as the index stores them, and texts. */
import { createHash } from "node:crypto";
import { LOG_FILTERS } from "@posthorn/protocol";
import { normalizeEmail } from "../../base/text.ts";
import type { EventReference, Excerpt } from "../port/log.ts";

/** The fields that the catalogue uses in all event types. Events with other fields aren't indexed. */
const FIELDS = { order_id: "order", customer_email: "customer" } as const;
const MENTIONED = Object.keys(FIELDS).map((name) => Buffer.from(`"${name}"`));
/** A name may be written with escapes. */
const ESCAPE = Buffer.from("\\u");
/** Longer values aren't indexed. */
export const MAX_REFERENCE_LENGTH = LOG_FILTERS.referenceLength;

/** Events per bucket: entries of one bucket are close together in the index, so few pages change per step. */
export const BUCKET = 4_096;

/**
 * A reference as the index stores it: the first 52 bits of a SHA-256 over the project, the kind and the value, so no
 * address is stored, and an address can't be followed from project to project.
 */
export function referenceNumber(projectId: string, { kind, value }: EventReference): number {
	const normal = kind === "customer" ? normalizeEmail(value) : value;
	const hash = createHash("sha256").update(`${projectId}\0${kind}\0${normal}`).digest();
	return hash.readUInt32BE(0) * 2 ** 20 + (hash.readUInt32BE(4) >>> 12);
}

/** The references in an envelope, as numbers. */
export function referencesIn(projectId: string, body: Uint8Array): number[] {
	const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
	if (![...MENTIONED, ESCAPE].some((text) => bytes.includes(text))) return [];
	const { data } = JSON.parse(bytes.toString()) as { readonly data?: Readonly<Record<string, unknown>> };
	const found = Object.entries(FIELDS).flatMap(([name, kind]) => {
		const value = textOf(data?.[name]);
		return value === null ? [] : [referenceNumber(projectId, { kind, value })];
	});
	return found;
}

/** The order id in an envelope's data, as the index knows it; null if it has none. */
export function orderIdIn(body: string): string | null {
	const hasEscapes = body.includes("\\u");
	const at = body.indexOf(ORDER_ID);
	if (at === -1 && !hasEscapes) return null;
	if (!hasEscapes && body.indexOf(ORDER_ID, at + 1) === -1 && isNameInData(body, at)) {
		const [, text, number] = VALUE.exec(body.slice(at + ORDER_ID.length, at + VALUE_LENGTH)) ?? [];
		if (text !== undefined) return textOf(text);
		if (number !== undefined) return textOf(Number(number));
	}
	const { data } = JSON.parse(body) as { readonly data?: { readonly order_id?: unknown } | null };
	return textOf(data?.order_id);
}

const ORDER_ID = '"order_id"';
const DATA = '"data":';
/** A text without escapes or an integer, as the value of a member. */
const VALUE = /^[ \t\n\r]*:[ \t\n\r]*(?:"([^"\\]*)"|(-?\d+)[ \t\n\r]*[,}])/;
/** A value that may be kept is shorter. */
const VALUE_LENGTH = 4 * MAX_REFERENCE_LENGTH;

/**
 * Whether what begins at `end` is directly within an envelope's data, rather than in a text or deeper. Parsing a large body
 * takes far longer than reading as far as its order id.
 */
function isNameInData(body: string, end: number): boolean {
	let depth = 0;
	let opened = 0;
	for (let i = 0; i < end; i++) {
		const char = body[i];
		if (char === '"') {
			for (i++; i < end && body[i] !== '"'; i++) if (body[i] === "\\") i++;
			if (i >= end) return false;
		} else if (char === "{" || char === "[") {
			depth++;
			if (depth === 2) opened = char === "{" ? i : -1;
		} else if (char === "}" || char === "]") depth--;
	}
	return depth === 2 && body.endsWith(DATA, opened);
}

/** Ids may also be numbers. */
function textOf(value: unknown): string | null {
	const text = Number.isSafeInteger(value) ? String(value) : value;
	return typeof text === "string" && text !== "" && text.length <= MAX_REFERENCE_LENGTH ? text : null;
}

/**
 * The first of these rows, as many as fit into `maxBytes` together, but at least one if there is one. Reads no further
 * than to the first that doesn't fit.
 */
export function withinBytes<T>(rows: Iterable<T>, maxBytes: number, bytesOf: (row: T) => number): T[] {
	const fit: T[] = [];
	let room = maxBytes;
	for (const row of rows) {
		room -= bytesOf(row);
		if (room < 0 && fit.length > 0) break;
		fit.push(row);
	}
	return fit;
}

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
