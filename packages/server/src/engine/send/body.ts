import { RECEIVERS } from "../../base/budgets.ts";

const EMPTY = Buffer.alloc(0);

/** The beginning of an answer's body, at most {@link RECEIVERS.keptBytes}, as the bytes came. */
export class Body {
	#bytes: Buffer = EMPTY;

	get bytes(): Uint8Array {
		return this.#bytes;
	}

	/** Takes what there is room for; false when that was not all of the chunk. The chunk is copied: it is part of a larger one. */
	append(chunk: Uint8Array): boolean {
		const room = RECEIVERS.keptBytes - this.#bytes.length;
		const taken = chunk.length > room ? chunk.subarray(0, room) : chunk;
		this.#bytes = this.#bytes.length === 0 ? Buffer.from(taken) : Buffer.concat([this.#bytes, taken]);
		return taken === chunk;
	}
}
