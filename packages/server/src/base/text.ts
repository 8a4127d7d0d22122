/**
 * Text that can be stored and shown: no control characters (C0, DEL and C1; NUL can't be stored in PostgreSQL). As a
 * JSON Schema pattern, written so that other regular expression engines read it the same way.
 */
export const TEXT_PATTERN = "^[^\\x00-\\x1f\\x7f-\\x9f]*$";

const TEXT = new RegExp(TEXT_PATTERN, "u");

/**
 * What no name may contain: control characters, line separators, and characters that change the direction of the text
 * after them. Names are shown within sentences, which they could make say something else. Marks that only have a
 * direction themselves are allowed.
 */
const DRIVING = "\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069";
/**
 * What shows nothing: spaces, fillers, and what Unicode calls default ignorable. Beyond U+FFFF these are the characters
 * themselves, because regular expression engines disagree on how to write them.
 */
const BLANK =
	" \\xa0\\xad\\u034f\\u061c\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u200f\\u202f\\u205f-\\u2065" +
	"\\u206a-\\u206f\\u2800\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb" +
	"\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}";

/** Names: nothing {@link DRIVING}, and unless empty, something that is visible. Takes time linear in the text. */
export const NAME_PATTERN = `^(?:[${BLANK}]*[^${DRIVING}${BLANK}][^${DRIVING}]*)?$`;
export const NAME_DETAIL =
	"must have a visible character, no control characters, such as line breaks or tabs, and none that change the direction of text";

/** A name or description as it is stored: without the white space around it. */
export const trimmed = (name: string): string => name.trim();

const NAME = new RegExp(NAME_PATTERN, "u");

/** Whether `text` has no control characters. */
export function isPrintable(text: string): boolean {
	return TEXT.test(text);
}

/**
 * What identifies a customer of a store: two addresses are the same customer's if they are equal without surrounding
 * space, in compatibility form (NFKC) and in lower case.
 */
export const normalizeEmail = (email: string): string => email.normalize("NFKC").toLowerCase().normalize("NFKC").trim();

/** A whole number from 0 on, with separators: `10,000`. `toLocaleString` would load a locale, for 12 ms of every start. */
export const grouped = (n: number): string => String(n).replace(/\B(?=(?:\d{3})+$)/g, ",");

/** A fault in one field of a request. */
export interface Fault {
	/** The field, as a JSON Pointer (RFC 6901) into the request. */
	readonly pointer: string;
	/** What is wrong and what to do; reads on from the field's name. */
	readonly detail: string;
}

/** Some fields are invalid; nothing was changed. */
export interface Invalid {
	readonly kind: "invalid";
	readonly faults: readonly Fault[];
}

/** The faults of a line of text for humans, such as a name; lengths count Unicode characters. */
export function textFaults(
	text: string,
	pointer: string,
	limits: { readonly min: number; readonly max: number },
): Fault[] {
	const faults: Fault[] = [];
	const fault = (detail: string) => faults.push({ pointer, detail });
	// A character takes at most two units, so a longer text needn't be counted.
	const length = text.length > 2 * limits.max ? text.length : [...text].length;
	if (length < limits.min) fault("must not be empty");
	if (length > limits.max) fault(`must have at most ${limits.max} characters`);
	if (!NAME.test(text)) fault(NAME_DETAIL);
	if (!text.isWellFormed()) fault("must be valid Unicode; it contains half of a surrogate pair");
	return faults;
}

/** Scheme, then user and servers, then the rest. */
const PARTS = /^([a-z]+:\/\/)([^/?#]*)(.*)$/s;

/**
 * Splits a database URL with several servers, separated by commas (as in libpq: `postgres://user@a:5432,b:5433/name`),
 * into one URL for each server.
 */
export function serverUrls(url: string): string[] {
	const [, scheme = "", authority = "", rest = ""] = PARTS.exec(url) ?? [];
	const at = authority.lastIndexOf("@") + 1;
	const user = authority.slice(0, at);
	const hosts = authority.slice(at).split(",");
	return hosts.length < 2 ? [url] : hosts.map((host) => `${scheme}${user}${host}${rest}`);
}

/** Anything but visible characters and plain spaces: control and format characters, such as those that reverse text. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;
const CUT = "…";

/**
 * A text from a receiver, to be stored and shown: whatever isn't visible becomes U+FFFD, and what exceeds `length`
 * characters (UTF-16 code units) is cut off.
 */
export function inertText(text: string, length: number): string {
	const clean = text
		.slice(0, length + 1)
		.replaceAll("\t", " ")
		.replace(INVISIBLE, "\ufffd");
	return clean.length <= length ? clean : clean.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "") + CUT;
}
