/** The references in an event's data, and how the index stores them. */
import { createHash } from "node:crypto";
import { normalizeEmail } from "../../base/text.ts";
import type { EventReference } from "../port/search.ts";

/** The fields that the catalogue uses in all event types. Events with other fields aren't indexed. */
const FIELDS = { order_id: "order", customer_email: "customer" } as const;
const MENTIONED = Object.keys(FIELDS).map((name) => Buffer.from(`"${name}"`));
/** A name may be written with escapes. */
const ESCAPE = Buffer.from("\\u");
/** Longer values aren't indexed. */
export const MAX_REFERENCE_LENGTH = 500;

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
