import { WINDOWS } from "../../base/budgets.ts";
import type { LaneState, LogEvent } from "../../storage/port.ts";
import type { Chunk } from "./chunk.ts";

/**
 * The open events of one lane: up to its position, and not settled. Each is in flight, or waits to be sent (again).
 * Those that wait are read by number, for the log around them is settled.
 */
export class OpenEvents {
	/** Ascending: what is added is beyond the lane's position. */
	readonly #seqs: number[];
	/** Those that wait, ascending … */
	#waiting: number[];
	/** … and the first of them as they were read. */
	#chunk: Chunk | undefined;

	/** @param seqs ascending; all of them wait */
	constructor(seqs: readonly number[]) {
		this.#seqs = [...seqs];
		this.#waiting = [...seqs];
	}

	/** All of them, ascending. */
	get seqs(): readonly number[] {
		return this.#seqs.slice();
	}

	get hasWaiting(): boolean {
		return this.#waiting.length > 0;
	}

	/** What to read next: numbers of events, none if the first one is at hand. */
	get unread(): readonly number[] {
		if (this.#waiting.length === 0 || this.peek()) return [];
		return this.#waiting.slice(0, WINDOWS.openEventsRead);
	}

	/** These were read. One that is not among them is in the log no more, so nothing is left to send. */
	read(seqs: readonly number[], chunk: Chunk): void {
		if (chunk.isEmptied) return;
		this.#chunk = chunk;
		const found = new Set(chunk.events.map(({ seq }) => seq));
		for (const seq of seqs) if (!found.has(seq) && this.#waiting.includes(seq)) this.settle(seq);
	}

	/** The first that waits, if it is at hand. */
	peek(): LogEvent | undefined {
		const first = this.#waiting[0];
		return this.#chunk?.events.find(({ seq }) => seq === first);
	}

	/** In flight from now on: the first that waits, or one that is new, beyond all others. */
	take(seq: number): void {
		if (this.#waiting[0] === seq) this.#stopWaiting(seq);
		else this.#seqs.push(seq);
	}

	/** In flight elsewhere, if it is open. */
	hold(seq: number): void {
		this.#stopWaiting(seq);
	}

	/** Not in flight any more, and not settled: it waits again, if it is still open. */
	putBack(seq: number): void {
		if (!this.#seqs.includes(seq)) return;
		const at = this.#waiting.findIndex((waiting) => waiting > seq);
		this.#waiting.splice(at < 0 ? this.#waiting.length : at, 0, seq);
	}

	/** Settled, or not wanted any more. */
	settle(seq: number): void {
		if (remove(this.#seqs, seq)) this.#stopWaiting(seq);
	}

	/** Storage holds more as settled than a lane at `position`: what is up to its own position, and not open there. */
	join(stored: Pick<LaneState, "position" | "open">, position: number): void {
		for (const seq of [...this.#seqs]) if (seq <= stored.position && !stored.open.includes(seq)) this.settle(seq);
		for (const seq of stored.open) {
			if (seq <= position) continue;
			this.#seqs.push(seq);
			this.#waiting.push(seq);
		}
	}

	forgetEvents(): void {
		this.#chunk = undefined;
	}

	#stopWaiting(seq: number): void {
		remove(this.#waiting, seq);
	}
}

/** @returns whether it was there */
function remove(seqs: number[], seq: number): boolean {
	if (seqs[0] === seq) {
		seqs.shift();
		return true;
	}
	const at = seqs.indexOf(seq);
	if (at >= 0) seqs.splice(at, 1);
	return at >= 0;
}
