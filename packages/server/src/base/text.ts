import { nameFaults } from "@posthorn/protocol";

/**
 * Text that can be stored and shown: no control characters (C0, DEL and C1; NUL can't be stored in PostgreSQL). As a
 * JSON Schema pattern, written so that other regular expression engines read it the same way.
 */
export const TEXT_PATTERN = "^[^\\x00-\\x1f\\x7f-\\x9f]*$";

/**
 * What identifies a customer of a store: two addresses are the same customer's if they are equal without surrounding
 * space, in compatibility form (NFKC) and in lower case.
 */
export const normalizeEmail = (email: string): string => email.normalize("NFKC").toLowerCase().normalize("NFKC").trim();

/** A whole number from 0 on, with separators: `10,000`. `toLocaleString` would load a locale, for 12 ms of every start. */
export const grouped = (n: number): string => String(n).replace(/\B(?=(?:\d{3})+$)/g, ",");

/**
 * A duration of at least 1 s, not rounded, in the largest unit that gives a whole number above 1: `24 hours`, `90 minutes`.
 * Otherwise in seconds: `1 second`, `1.5 seconds`.
 */
export function durationWords(ms: number): string {
	const fitting = UNITS.find(([size]) => ms % size === 0 && ms > size);
	const [size, unit] = fitting ?? [1_000, "second"];
	return `${ms / size} ${unit}${ms === size ? "" : "s"}`;
}

const UNITS = [
	[86_400_000, "day"],
	[3_600_000, "hour"],
	[60_000, "minute"],
] as const;

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
export function lineFaults(
	text: string,
	pointer: string,
	limits: { readonly min: number; readonly max: number },
): Fault[] {
	return nameFaults(text, limits).map((detail) => ({ pointer, detail }));
}

/** Scheme, then user and servers, then the rest. */
const PARTS = /^([a-z]+:\/\/)([^/?#]*)(.*)$/s;

/** One URL for each server of a database URL that lists several, as in libpq: `postgres://user@a:5432,b:5433/name`. */
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
	const beginning = text.slice(0, length + 1);
	const clean = beginning.replaceAll("\t", " ").replace(INVISIBLE, "\ufffd");
	// Even if it fits now, because a pair of units became one.
	return clean.length <= length && beginning.length === text.length
		? clean
		: clean.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "") + CUT;
}
