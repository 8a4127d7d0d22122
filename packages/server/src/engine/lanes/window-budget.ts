import { WINDOWS } from "../../base/budgets.ts";
import type { Chunk } from "./log-reader.ts";

/**
 * Limits how much of their logs all lanes of the node hold in memory, whatever the backlog: the least recently used
 * chunk is evicted first. It is emptied, so that a lane that hasn't finished it holds nothing either, and reads again
 * when it may send more. Windows shrink as the number of lanes grows.
 */
export class WindowBudget {
	readonly name = "window_bytes";
	readonly limit: number;
	readonly refusals = 0;
	readonly #held = new Map<Chunk, () => void>();
	#bytes = 0;
	#lanes = 0;

	constructor(limit: number = WINDOWS.bytes) {
		this.limit = limit;
	}

	/** Bytes held now. */
	get used(): number {
		return this.#bytes;
	}

	/** The largest window to read now. */
	get windowBytes(): number {
		const part = Math.floor(this.limit / Math.max(1, this.#lanes));
		return Math.min(WINDOWS.largestBytes, Math.max(WINDOWS.smallestBytes, part));
	}

	/** Lanes were added or removed. */
	countLanes(change: number): void {
		this.#lanes += change;
	}

	/** Adds a chunk; `evict` is called when it is evicted. */
	take(chunk: Chunk, evict: () => void): void {
		this.#held.set(chunk, evict);
		this.#bytes += chunk.bytes;
		this.#shrink();
	}

	/** A chunk grew by this many bytes, so lanes are near it. */
	grow(chunk: Chunk, bytes: number): void {
		const evict = this.#held.get(chunk);
		if (!evict) return;
		this.#held.delete(chunk);
		this.#held.set(chunk, evict);
		this.#bytes += bytes;
		this.#shrink();
	}

	/** Removes a chunk and empties it, since an uncounted chunk must hold nothing. */
	give(chunk: Chunk): void {
		if (this.#held.delete(chunk)) this.#bytes -= chunk.bytes;
		chunk.empty();
	}

	#shrink(): void {
		for (const [chunk, evict] of this.#held) {
			if (this.#bytes <= this.limit) return;
			this.give(chunk);
			evict();
		}
	}
}
