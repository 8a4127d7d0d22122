import { WINDOWS } from "../../base/budgets.ts";
import type { LogEvent } from "../../storage/port.ts";

/**
 * A section of a project's log in memory: every event with `after < seq ≤ through` of the types that it was read for
 * (all types if `types` is null). Lanes share chunks instead of copying them. An evicted chunk is emptied, and no
 * longer serves any lane.
 */
export class Chunk {
	readonly after: number;
	readonly types: string | null;
	readonly events: LogEvent[];
	#through: number;
	#bytes = 0;
	#isEmptied = false;

	/** A chunk of events read by sequence number. It says nothing about the events in between. */
	static ofOpen(events: readonly LogEvent[]): Chunk {
		return new Chunk(-1, -1, [...events], "");
	}

	constructor(after: number, through: number, events: LogEvent[], types: string | null) {
		this.after = after;
		this.#through = through;
		this.events = events;
		this.types = types;
		for (const event of events) this.#bytes += event.body.length;
	}

	get through(): number {
		return this.#through;
	}

	get bytes(): number {
		return this.#bytes;
	}

	get isEmptied(): boolean {
		return this.#isEmptied;
	}

	/** Drops its events. */
	empty(): void {
		this.#isEmptied = true;
		this.events.length = 0;
		this.#bytes = 0;
		this.#through = this.after;
	}

	/** Whether it holds what follows `position` for a lane with subscriptions `types`. */
	serves(position: number, types: string | null): boolean {
		return this.after <= position && position < this.#through && (this.types === null || this.types === types);
	}

	/** Appends the next event, if there is room. */
	extend(event: LogEvent): boolean {
		if (this.#isEmptied || this.types !== null || event.seq !== this.#through + 1) return false;
		if (this.events.length >= WINDOWS.freshEvents || this.#bytes + event.body.length > WINDOWS.freshBytes) return false;
		this.events.push(event);
		this.#through = event.seq;
		this.#bytes += event.body.length;
		return true;
	}

	/** The index of the first event after `position`. */
	indexAfter(position: number): number {
		let low = 0;
		let high = this.events.length;
		while (low < high) {
			const middle = (low + high) >>> 1;
			if (this.events[middle]!.seq <= position) low = middle + 1;
			else high = middle;
		}
		return low;
	}
}
