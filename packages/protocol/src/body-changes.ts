/**
 * The changes that receivers make to a body by accident before they verify it. The library for receivers applies them to
 * the body that it got, to find the one that was sent; the service applies them to the body that it sent.
 */

type BodyChange = "byte_order_mark" | "reserialized";

export interface ChangedBody {
	readonly change: BodyChange;
	readonly body: Uint8Array<ArrayBuffer>;
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

export const hasByteOrderMark = (body: Uint8Array): boolean => BYTE_ORDER_MARK.every((byte, i) => body[i] === byte);

/** The body with each of the changes that can be made or undone without knowing the other body. */
export function* changedBodies(body: Uint8Array): Generator<ChangedBody> {
	yield {
		change: "byte_order_mark",
		body: hasByteOrderMark(body) ? Uint8Array.from(body.subarray(BYTE_ORDER_MARK.length)) : withMark(body),
	};
	const text = new TextDecoder().decode(body);
	for (const other of rewritten(text)) if (other !== text) yield { change: "reserialized", body: utf8(other) };
}

function withMark(body: Uint8Array): Uint8Array<ArrayBuffer> {
	const marked = new Uint8Array(BYTE_ORDER_MARK.length + body.length);
	marked.set(BYTE_ORDER_MARK);
	marked.set(body, BYTE_ORDER_MARK.length);
	return marked;
}

/** What frameworks make of a text that they tidy. */
function* rewritten(text: string): Generator<string> {
	yield text.trim();
	yield `${text}\n`;
	try {
		yield JSON.stringify(JSON.parse(text));
	} catch {
		// Not JSON, so it was not parsed either.
	}
}

/** How a body that someone got differs from the one that was sent. */
export type BodyDifference =
	| "empty"
	| "byte_order_mark"
	| "truncated"
	| "whitespace"
	| "encoding"
	| "reserialized"
	| "other_event"
	| "changed";

/** Null if the bytes are the same. */
export function bodyDifference(sent: Uint8Array, given: Uint8Array): BodyDifference | null {
	if (areEqual(sent, given)) return null;
	if (given.length === 0) return "empty";
	if (hasByteOrderMark(given) !== hasByteOrderMark(sent)) {
		const [one, other] = [withoutMark(sent), withoutMark(given)];
		if (areEqual(one, other)) return "byte_order_mark";
	}
	if (given.length < sent.length && areEqual(sent.subarray(0, given.length), given)) return "truncated";
	const [before, after] = [new TextDecoder().decode(sent), new TextDecoder().decode(given)];
	if (before.trim() === after.trim() || unbroken(before) === unbroken(after)) return "whitespace";
	if (isMisread(sent, before, given, after)) return "encoding";
	const [one, other] = [parsed(before), parsed(after)];
	if (one === undefined || other === undefined) return "changed";
	if (haveSameMembers(one, other)) return "reserialized";
	return idOf(one) !== undefined && idOf(other) !== undefined && idOf(one) !== idOf(other) ? "other_event" : "changed";
}

const areEqual = (one: Uint8Array, other: Uint8Array): boolean =>
	one.length === other.length && one.every((byte, i) => byte === other[i]);

const withoutMark = (body: Uint8Array): Uint8Array =>
	hasByteOrderMark(body) ? body.subarray(BYTE_ORDER_MARK.length) : body;

const unbroken = (text: string): string => text.replaceAll("\r\n", "\n").trim();

/** Whether UTF-8 was read as Latin-1, or as an encoding that lacks some of its characters, or written in UTF-16. */
function isMisread(sent: Uint8Array, before: string, given: Uint8Array, after: string): boolean {
	const asLatin1 = Array.from(sent, (byte) => String.fromCharCode(byte)).join("");
	if (after === asLatin1) return true;
	const ascii = (text: string): string => text.replaceAll(/[^\x20-\x7e]+|\?+/g, "");
	if (before !== after && ascii(before) === ascii(after)) return true;
	return given.length >= 2 * before.length && after.replaceAll("\0", "").replaceAll("\ufffd", "") === before;
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

function haveSameMembers(one: unknown, other: unknown): boolean {
	try {
		return sorted(one) === sorted(other);
	} catch (error) {
		// Nested too deeply to compare.
		if (error instanceof RangeError) return false;
		throw error;
	}
}

/** The same text for values that differ only in the order of their members. */
const sorted = (value: unknown): string =>
	JSON.stringify(value, (_, member: unknown) =>
		typeof member === "object" && member !== null && !Array.isArray(member)
			? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
			: member,
	);

const idOf = (value: unknown): unknown =>
	typeof value === "object" && value !== null ? (value as { id?: unknown }).id : undefined;
