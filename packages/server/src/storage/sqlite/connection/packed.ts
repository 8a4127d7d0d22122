/** Many byte strings in one piece of memory, with where each of them ends. */
export type Packed = readonly [bytes: Uint8Array<ArrayBuffer>, ends: readonly number[]];

/** Memory from this size on moves between threads; less is copied sooner than it is handed over, bytes. */
const HANDED_OVER_FROM = 16_384;

export function pack(parts: readonly Uint8Array[]): Packed {
	let length = 0;
	const ends = parts.map((part) => (length += part.length));
	// Not from the pool, for its memory is handed over; not cleared, for all of it is written.
	const bytes = Buffer.allocUnsafeSlow(length);
	for (let i = 0; i < parts.length; i++) bytes.set(parts[i]!, i === 0 ? 0 : ends[i - 1]!);
	return [bytes, ends];
}

/** A view of one of them, not a copy. */
export function unpack([bytes, ends]: Packed, index: number): Uint8Array {
	return bytes.subarray(index === 0 ? 0 : ends[index - 1]!, ends[index]!);
}

/** The memory of a batch: by convention its last member is packed. Null where there is none. */
export function memoryOf(batch: unknown): Uint8Array<ArrayBuffer> | null {
	const packed: unknown = Array.isArray(batch) ? batch.at(-1) : null;
	const bytes: unknown = Array.isArray(packed) ? packed[0] : null;
	return bytes instanceof Uint8Array ? (bytes as Uint8Array<ArrayBuffer>) : null;
}

/** What of these values is to be handed over with a message, rather than copied. */
export function transferOf(values: readonly unknown[]): ArrayBuffer[] {
	const memories = values.map(memoryOf).filter((bytes) => bytes !== null && bytes.length >= HANDED_OVER_FROM);
	return memories.map((bytes) => bytes!.buffer);
}
