/**
 * Array literals in PostgreSQL's format: one parameter per column of a batch. Numbers and ids need no escaping, so this
 * is several times faster than the driver.
 */
export function numberArray(values: readonly (number | null)[]): string {
	// Inside the brackets, JSON writes integers and null like an array literal.
	return `{${JSON.stringify(values).slice(1, -1)}}`;
}

/** For ids that this service generated: letters and digits, which need no escaping. */
export function idArray(ids: readonly string[]): string {
	return `{${ids.join(",")}}`;
}

export function textArray(values: readonly (string | null)[]): string {
	return `{${values.map((value) => (value === null ? "NULL" : `"${value.replaceAll(SPECIAL, "\\$&")}"`)).join(",")}}`;
}

const SPECIAL = /["\\]/g;

/** PostgreSQL's text accepts every character except NUL, which texts from outside may contain. */
export const withoutNul = (text: string): string => text.replaceAll("\0", "\ufffd");

/** Many byte strings in one parameter, with the start (from 0) and length of each. */
export interface Packed {
	readonly bytes: Buffer;
	readonly starts: readonly number[];
	readonly lengths: readonly number[];
}

export function pack(parts: readonly Uint8Array[]): Packed {
	const lengths = parts.map((part) => part.length);
	let end = 0;
	const starts = lengths.map((length) => {
		end += length;
		return end - length;
	});
	return { bytes: Buffer.concat(parts, end), starts, lengths };
}
