import { RECEIVERS } from "../../base/budgets.ts";

const EMPTY = Buffer.alloc(0);

/** The beginning of a response's body, at most {@link RECEIVERS.keptBytes}, as received. */
export class Body {
	#bytes: Buffer = EMPTY;

	get bytes(): Uint8Array {
		return this.#bytes;
	}

	/**
	 * Copies as much of the chunk as there is room for, since the chunk's memory is reused. Returns false if that isn't
	 * all of it.
	 */
	append(chunk: Uint8Array): boolean {
		const room = RECEIVERS.keptBytes - this.#bytes.length;
		const taken = chunk.length > room ? chunk.subarray(0, room) : chunk;
		this.#bytes = this.#bytes.length === 0 ? Buffer.from(taken) : Buffer.concat([this.#bytes, taken]);
		return taken === chunk;
	}
}
