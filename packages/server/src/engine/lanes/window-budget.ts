import { WINDOWS } from "../../base/budgets.ts";
import type { Chunk } from "./chunk.ts";

/**
 * Bounds what the lanes of the node hold of their logs in memory, whatever waits: the chunk that was used least recently
 * goes first. It is emptied, so that a lane that has not come to its end holds nothing either: it reads again from there
 * when it may send more. Windows shrink as lanes grow in number.
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

	/** What is held now, bytes. */
	get used(): number {
		return this.#bytes;
	}

	/** The largest window to read now. */
	get windowBytes(): number {
		const part = Math.floor(this.limit / Math.max(1, this.#lanes));
		return Math.min(WINDOWS.largestBytes, Math.max(WINDOWS.smallestBytes, part));
	}

	/** Lanes came or went. */
	countLanes(change: number): void {
		this.#lanes += change;
	}

	/** A chunk is kept; `evict` is called when it must go. */
	take(chunk: Chunk, evict: () => void): void {
		this.#held.set(chunk, evict);
		this.#bytes += chunk.bytes;
		this.#shrink();
	}

	/** A kept chunk grew by this many bytes: lanes are near it. */
	grow(chunk: Chunk, bytes: number): void {
		const evict = this.#held.get(chunk);
		if (!evict) return;
		this.#held.delete(chunk);
		this.#held.set(chunk, evict);
		this.#bytes += bytes;
		this.#shrink();
	}

	/** A chunk is no longer kept: it is emptied, for what is not counted must hold nothing. */
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
