import { WINDOWS } from "../../base/budgets.ts";
import type { LaneState } from "../../storage/port.ts";
import type { Chunk } from "./log-reader.ts";
import type { LaneEvent } from "./packed-events.ts";

/**
 * The open events of one lane: up to its position, and not settled. Each is in flight, or waits to be sent (again).
 * Waiting ones are read by sequence number, since the log around them is settled.
 */
export class OpenEvents {
	/** Ascending: new events are always beyond the lane's position. */
	readonly #seqs: number[];
	/** The waiting ones, ascending … */
	#waiting: number[];
	/** … and the first of them, once read. */
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

	/** Sequence numbers to read next; none if the first event is in memory. */
	get unread(): readonly number[] {
		if (this.#waiting.length === 0 || this.peek()) return [];
		return this.#waiting.slice(0, WINDOWS.openEventsRead);
	}

	/** These events were read. A missing one is no longer in the log, so there is nothing left to send. */
	read(seqs: readonly number[], chunk: Chunk): void {
		if (chunk.isEmptied) return;
		this.#chunk = chunk;
		for (const seq of seqs) if (!chunk.events.find(seq) && this.#waiting.includes(seq)) this.settle(seq);
	}

	/** The first waiting event, if it is in memory. */
	peek(): LaneEvent | undefined {
		const [first] = this.#waiting;
		return first === undefined ? undefined : this.#chunk?.events.find(first);
	}

	/** Marks an event as in flight: the first waiting one, or a new one beyond all others. */
	take(seq: number): void {
		if (this.#waiting[0] === seq) this.stopWaiting(seq);
		else this.#seqs.push(seq);
	}

	/** No longer in flight, but not settled: it waits again, if it is still open. */
	putBack(seq: number): void {
		if (!this.#seqs.includes(seq)) return;
		const at = this.#waiting.findIndex((waiting) => waiting > seq);
		this.#waiting.splice(at < 0 ? this.#waiting.length : at, 0, seq);
	}

	/** Settled, or no longer wanted. */
	settle(seq: number): void {
		if (remove(this.#seqs, seq)) this.stopWaiting(seq);
	}

	/** Settles what storage no longer has open up to its position, and adds what it has open beyond `position`. */
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

	/** An open event is in flight, perhaps elsewhere. */
	stopWaiting(seq: number): void {
		remove(this.#waiting, seq);
	}
}

/** @returns whether it was present */
function remove(seqs: number[], seq: number): boolean {
	if (seqs[0] === seq) {
		seqs.shift();
		return true;
	}
	const at = seqs.indexOf(seq);
	if (at >= 0) seqs.splice(at, 1);
	return at >= 0;
}
