const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const NONE = Buffer.alloc(0);
/** Initial capacity for the beginning of a line, bytes. It doubles as the line grows. */
const FIRST_BYTES = 64;

/**
 * Assembles lines from chunks, looking at each byte once. A line that is complete within its chunk isn't copied; the
 * bytes of any other are, because a chunk's memory is reused.
 */
export class LineBuffer {
	#kept = NONE;
	#length = 0;

	/** Bytes of the current, incomplete line. */
	get length(): number {
		return this.#length;
	}

	/** The end, including the line feed, of the line that continues at `from`; -1 if it doesn't end in this chunk. */
	static end(chunk: Buffer, from: number): number {
		return chunk.indexOf(LINE_FEED, from) + 1 || -1;
	}

	/** Keeps the beginning of a line: the chunk from `from` on. */
	keep(chunk: Buffer, from: number): void {
		const length = this.#length + chunk.length - from;
		if (length > this.#kept.length) {
			const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, length, this.#kept.length * 2));
			this.#kept.copy(larger, 0, 0, this.#length);
			this.#kept = larger;
		}
		chunk.copy(this.#kept, this.#length, from);
		this.#length = length;
	}

	/**
	 * Completes the line with the chunk's bytes from `from` to `end`.
	 *
	 * @returns it without CRLF or LF (RFC 9112, 2.2), as Latin-1
	 */
	take(chunk: Buffer, from: number, end: number): string {
		if (this.#length === 0) return textOf(chunk, from, end);
		this.keep(chunk.subarray(0, end), from);
		const line = textOf(this.#kept, 0, this.#length);
		this.#length = 0;
		return line;
	}

	/** At most the first `length` bytes of the incomplete line, as Latin-1. */
	beginning(length: number): string {
		return this.#kept.toString("latin1", 0, Math.min(length, this.#length));
	}
}

function textOf(bytes: Buffer, from: number, end: number): string {
	const upTo = end - 1 > from && bytes[end - 2] === CARRIAGE_RETURN ? end - 2 : end - 1;
	return bytes.toString("latin1", from, upTo);
}
