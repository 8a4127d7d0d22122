/**
 * Arrays as PostgreSQL writes them: one parameter for a column of a batch. Numbers and ids need no escaping, so this is
 * several times quicker than leaving it to the driver.
 */
export function numberArray(values: readonly (number | null)[]): string {
	// Between its brackets, JSON writes integers and null as an array literal does.
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

/** PostgreSQL's text holds every character but NUL; texts that come from outside may have it. */
export const withoutNul = (text: string): string => text.replaceAll("\0", "\ufffd");

/** Many byte strings as one parameter, with where each of them begins (from 0) and how long it is. */
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
