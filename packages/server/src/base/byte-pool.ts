/** The memory that copies share, bytes. Those of more than a quarter of it get their own. */
const SHARED_BYTES = 8_192;

/**
 * Copies bytes into memory that they share only with the pool's other copies, which should live about as long. In Node's
 * own pool, one small copy that lives longer than others keeps 64 KB.
 */
export class BytePool {
	#memory = Buffer.allocUnsafeSlow(0);
	#used = 0;

	copy(bytes: Uint8Array): Buffer {
		const { length } = bytes;
		if (length > SHARED_BYTES / 4) return ownCopy(bytes);
		if (this.#used + length > this.#memory.length) {
			this.#memory = Buffer.allocUnsafeSlow(SHARED_BYTES);
			this.#used = 0;
		}
		const copy = this.#memory.subarray(this.#used, this.#used + length);
		copy.set(bytes);
		this.#used += length;
		return copy;
	}
}

/** A copy in memory of its own, for bytes that are kept for long. */
export function ownCopy(bytes: Uint8Array): Buffer {
	const copy = Buffer.allocUnsafeSlow(bytes.length);
	copy.set(bytes);
	return copy;
}
