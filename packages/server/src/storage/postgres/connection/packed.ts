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
