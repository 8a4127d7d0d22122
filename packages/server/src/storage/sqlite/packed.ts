/** Many byte strings in one piece of memory, which moves between threads without being copied. */
export interface Packed {
	readonly bytes: Uint8Array<ArrayBuffer>;
	/** Where each of them ends. */
	readonly ends: Uint32Array<ArrayBuffer>;
}

export function pack(parts: readonly Uint8Array[]): Packed {
	const ends = new Uint32Array(parts.length);
	let length = 0;
	for (let i = 0; i < parts.length; i++) {
		length += parts[i]!.length;
		ends[i] = length;
	}
	// Not from the pool, for its memory is handed over; not cleared, for all of it is written.
	const bytes = Buffer.allocUnsafeSlow(length);
	for (let i = 0; i < parts.length; i++) bytes.set(parts[i]!, i === 0 ? 0 : ends[i - 1]!);
	return { bytes, ends };
}

/** A view of one of them, not a copy. */
export function unpack({ bytes, ends }: Packed, index: number): Uint8Array {
	return bytes.subarray(index === 0 ? 0 : ends[index - 1]!, ends[index]!);
}

/** The memory to hand over with a message: what `value.packed` holds, by convention. */
export function transferOf(value: unknown): ArrayBuffer[] {
	if (typeof value !== "object" || value === null || !("packed" in value)) return [];
	const { bytes, ends } = value.packed as Packed;
	return [bytes.buffer, ends.buffer];
}
