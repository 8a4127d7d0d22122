import type { Clock } from "./clock.ts";

/** Asks whether to wait before so many bytes are worked on: null if not. */
export type Pause = (bytes: number) => Promise<void> | null;

/** For work that is small, or has no one to share the event loop with. */
export const neverPause: Pause = () => null;

/** Runs work that yields the bytes of each piece before it begins: all of it at once, as far as `pause` allows. */
export function runInSlices<T>(work: Generator<number, T, void>, pause: Pause): T | Promise<T> {
	for (;;) {
		const { done, value } = work.next();
		if (done) return value;
		const turn = pause(value);
		if (turn) return turn.then(() => runInSlices(work, pause));
	}
}

/** Slices in a turn of the event loop, if they are short. */
const SLICES = 16;

/**
 * Shares the event loop among owners with much to compute. Each waits before each slice of its work; owners take turns.
 * Slices run until their share of a turn of the loop is used up, so that whatever else is due runs in between.
 */
export class Turns {
	/** By owner, those who wait; the owner that comes next is first. */
	readonly #waiting = new Map<string, (() => void)[]>();
	readonly #turnMs: number;
	readonly #clock: Pick<Clock, "elapsed" | "setImmediate">;
	/** Slices that may still run in the next turn of the loop, or in this one. */
	#due = 0;
	#begun: number | null = null;

	/**
	 * @param turnMs how long slices run in a turn of the event loop: the one that reaches it is the last
	 * @param clock its `setImmediate` lets promises settle before it makes the next call
	 */
	constructor(turnMs: number, clock: Pick<Clock, "elapsed" | "setImmediate">) {
		this.#turnMs = turnMs;
		this.#clock = clock;
	}

	/** Slices that wait. */
	get waiting(): number {
		let waiting = 0;
		for (const queue of this.#waiting.values()) waiting += queue.length;
		return waiting;
	}

	/** Resolves when it is the owner's turn for one slice of work. */
	take(owner: string): Promise<void> {
		return new Promise((resolve) => {
			const queue = this.#waiting.get(owner);
			if (queue) queue.push(resolve);
			else this.#waiting.set(owner, [resolve]);
			this.#arm();
		});
	}

	/**
	 * Work of one owner that goes on in slices: call what this returns before each piece. Null where the piece still fits
	 * into the slice; else a promise for the next turn.
	 *
	 * @param pieceBytes what a piece counts for besides its bytes: many tiny pieces are work, too
	 */
	slices(owner: string, sliceBytes: number, pieceBytes = 0): Pause {
		let worked = 0;
		return (bytes) => {
			const piece = bytes + pieceBytes;
			worked += piece;
			if (worked <= sliceBytes) return null;
			worked = piece;
			return this.take(owner);
		};
	}

	#arm(): void {
		if (this.#due > 0) return;
		this.#due = SLICES;
		this.#begun = null;
		for (let n = 0; n < SLICES; n++) this.#clock.setImmediate(() => this.#runSlice());
	}

	#runSlice(): void {
		this.#due--;
		const now = this.#clock.elapsed();
		this.#begun ??= now;
		const resolve = now - this.#begun < this.#turnMs ? this.#next() : null;
		if (this.#due === 0 && this.#waiting.size > 0) this.#arm();
		resolve?.();
	}

	#next(): (() => void) | null {
		const [first] = this.#waiting;
		if (!first) return null;
		const [owner, queue] = first;
		this.#waiting.delete(owner);
		const resolve = queue.shift()!;
		if (queue.length > 0) this.#waiting.set(owner, queue);
		return resolve;
	}
}
