import type { Chunk } from "./chunk.ts";

/** What all chunks in memory may hold together, bytes. */
const TOTAL_BYTES = 32 * 1024 * 1024;
/** One window is read no larger than this … */
const WINDOW_MAX_BYTES = 128 * 1024;
/** … and, however many lanes there are, no smaller. */
const WINDOW_MIN_BYTES = 16 * 1024;

/**
 * Bounds what all log readers of the node hold in memory, whatever waits: the oldest chunk goes first. A lane that works
 * on a chunk keeps it until it has moved on, so windows shrink as lanes grow in number.
 */
export class WindowBudget {
	readonly #held = new Map<Chunk, () => void>();
	#bytes = 0;
	#lanes = 0;

	/** The largest window to read now. */
	get windowBytes(): number {
		return Math.min(WINDOW_MAX_BYTES, Math.max(WINDOW_MIN_BYTES, Math.floor(TOTAL_BYTES / Math.max(1, this.#lanes))));
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

	/** A kept chunk grew by this many bytes. */
	grow(chunk: Chunk, bytes: number): void {
		if (!this.#held.has(chunk)) return;
		this.#bytes += bytes;
		this.#shrink();
	}

	/** A chunk is no longer kept. */
	give(chunk: Chunk): void {
		if (this.#held.delete(chunk)) this.#bytes -= chunk.bytes;
	}

	#shrink(): void {
		for (const [chunk, evict] of this.#held) {
			if (this.#bytes <= TOTAL_BYTES) return;
			this.give(chunk);
			evict();
		}
	}
}
