import { WINDOWS } from "../../base/budgets.ts";
import type { LogEvent, LogStorage } from "../../storage/port.ts";
import { Chunk } from "./chunk.ts";
import type { WindowBudget } from "./window-budget.ts";

/** Lanes this close to the end of the log are fed from memory as events are published. */
const NEAR_END = 256;

/** Awaited by a lane that found too many reads in flight: the end of any of them. */
export const ANY_READ = "any";

/** Awaited by a lane that reads its open events by sequence number. */
export const OPEN_READ = "open";

/** The parts of a lane that a read depends on. */
export interface Reading {
	/** The last `seq` that the lane has looked at. */
	readonly position: number;
	/** Key for its types: equal keys mean equal types. Null means all types. */
	readonly typesKey: string | null;
	readonly types: readonly string[] | undefined;
}

/**
 * Reads a project's log for its lanes. Lanes at the end are fed published events without a read. A lane further back
 * gets a window of the types that it wants, starting at its position; lanes at the same position share it. Rows go
 * directly to the lanes that asked for them, so an overflowing cache can delay lanes but not stall them.
 */
export class LogReader {
	readonly #storage: Pick<LogStorage, "readLog">;
	readonly #projectId: string;
	readonly #budget: WindowBudget;
	/** Passes a chunk, or the failure to read it, to the lanes that wait for it. */
	readonly #deliver: (key: string, chunk: Chunk | null, error?: unknown) => void;
	readonly #chunks: Chunk[] = [];
	readonly #reads = new Set<string>();
	#lastSeq: number;
	#lastKnown: Pick<LogEvent, "seq" | "id"> | null = null;
	#over = false;

	constructor(
		storage: Pick<LogStorage, "readLog">,
		projectId: string,
		lastSeq: number,
		budget: WindowBudget,
		deliver: (key: string, chunk: Chunk | null, error?: unknown) => void,
	) {
		this.#storage = storage;
		this.#projectId = projectId;
		this.#lastSeq = lastSeq;
		this.#budget = budget;
		this.#deliver = deliver;
	}

	/** The known end of the log. */
	get lastSeq(): number {
		return this.#lastSeq;
	}

	/** The last event published here or read. {@link lastSeq} may be known only as a number. */
	get lastKnown(): Pick<LogEvent, "seq" | "id"> | null {
		return this.#lastKnown;
	}

	/** The log is known to extend to `seq`. */
	reaches(seq: number): void {
		this.#lastSeq = Math.max(this.#lastSeq, seq);
	}

	/**
	 * Events were published. They are kept in memory only if a lane is near enough to use them soon.
	 *
	 * @returns the first event whose number this reader had already counted as used, unless it holds that very event;
	 *   null if there is none. Either the read that counted it saw this append, or the log was rewound and reuses
	 *   numbers.
	 */
	appended(events: readonly LogEvent[], foremost: number): LogEvent | null {
		let doubtful: LogEvent | null = null;
		this.#know(events.at(-1));
		for (const event of events) {
			if (event.seq <= this.#lastSeq) {
				if (!this.#holds(event)) doubtful ??= event;
				continue;
			}
			const follows = event.seq === this.#lastSeq + 1;
			if (follows && foremost >= this.#lastSeq - NEAR_END) this.#extendEnd(event);
			this.#lastSeq = event.seq;
		}
		return doubtful;
	}

	/** A chunk in memory that continues after the lane's position. */
	find(lane: Reading): Chunk | undefined {
		return this.#chunks.findLast((chunk) => chunk.serves(lane.position, lane.typesKey));
	}

	/**
	 * Reads on after the lane's position, unless that read is already in flight.
	 *
	 * @returns the key under which the rows will be delivered; null if too many reads are in flight
	 */
	request(lane: Reading): string | null {
		const key = `${lane.position} ${lane.typesKey ?? ""}`;
		if (this.#reads.has(key)) return key;
		if (this.#reads.size >= WINDOWS.readsPerProject) return null;
		this.#reads.add(key);
		void this.#read(key, lane.position, lane.typesKey, lane.types);
		return key;
	}

	/** Keeps open events read by sequence number like a window, until others need the room. */
	holdOpen(events: readonly LogEvent[]): Chunk {
		const chunk = Chunk.ofOpen(events);
		if (events.length > 0) this.#keep(chunk);
		return chunk;
	}

	/** Drops everything it holds, and the results of reads in flight. */
	end(): void {
		this.#over = true;
		for (const chunk of this.#chunks.splice(0)) this.#budget.give(chunk);
	}

	async #read(key: string, position: number, typesKey: string | null, types?: readonly string[]): Promise<void> {
		// If the read returns nothing, no event up to here has these types.
		const known = this.#lastSeq;
		const window = { maxEvents: WINDOWS.events, maxBytes: this.#budget.windowBytes };
		let chunk: Chunk;
		try {
			const events = await this.#storage.readLog(this.#projectId, position, window, types);
			const through = events.at(-1)?.seq ?? Math.max(known, position);
			chunk = new Chunk(position, through, events, typesKey);
		} catch (error) {
			this.#reads.delete(key);
			this.#deliver(key, null, error);
			return;
		}
		this.#reads.delete(key);
		if (this.#over) return;
		this.reaches(chunk.through);
		this.#know(chunk.events.at(-1));
		if (chunk.events.length > 0) this.#keep(chunk);
		this.#deliver(key, chunk);
	}

	#know(event: LogEvent | undefined): void {
		if (event && event.seq > (this.#lastKnown?.seq ?? 0)) this.#lastKnown = { seq: event.seq, id: event.id };
	}

	#holds({ seq, id }: LogEvent): boolean {
		return this.#chunks.some(({ after, through, events }) => {
			return after < seq && seq <= through && events.some((event) => event.seq === seq && event.id === id);
		});
	}

	#extendEnd(event: LogEvent): void {
		const end = this.#chunks.findLast((chunk) => chunk.types === null && chunk.through === event.seq - 1);
		const before = end?.bytes ?? 0;
		if (end?.extend(event)) this.#budget.grow(end, end.bytes - before);
		else this.#keep(new Chunk(event.seq - 1, event.seq, [event], null));
	}

	#keep(chunk: Chunk): void {
		this.#chunks.push(chunk);
		if (this.#chunks.length > WINDOWS.windowsPerProject) this.#budget.give(this.#chunks.shift()!);
		this.#budget.take(chunk, () => {
			const at = this.#chunks.indexOf(chunk);
			if (at >= 0) this.#chunks.splice(at, 1);
		});
	}
}
