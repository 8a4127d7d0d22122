import { WINDOWS } from "../../base/budgets.ts";
import type { LogEvent, LogStorage } from "../../storage/port.ts";
import { Chunk } from "./chunk.ts";
import type { WindowBudget } from "./window-budget.ts";

/** Lanes this close to the log's end are fed from memory as events are published. */
const NEAR_END = 256;

/** What a lane awaits that found too many reads under way: the end of any of them. */
export const ANY_READ = "any";

/** What a lane awaits that reads its open events by number. */
export const OPEN_READ = "open";

/** A lane, as far as reading for it goes. */
export interface Reading {
	/** The last `seq` that it has looked at. */
	readonly position: number;
	/** Its types, as a key: the same key, the same types. Null: all types. */
	readonly typesKey: string | null;
	readonly types: readonly string[] | undefined;
}

/**
 * Reads a project's log for its lanes. Lanes at the end are handed what is published, without a read. A lane further
 * behind gets a window of the types that it wants, read for its place; lanes that wait for the same place get the same
 * window. Whoever asked is handed the rows directly, so that a cache that overflows can delay lanes but not stall them.
 */
export class LogReader {
	readonly #storage: Pick<LogStorage, "readLog">;
	readonly #projectId: string;
	readonly #budget: WindowBudget;
	/** Hands a chunk (or the failure to read one) to the lanes that wait for it. */
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

	/** The end of the log, as far as is known. */
	get lastSeq(): number {
		return this.#lastSeq;
	}

	/** The last event that was published here or read, while {@link lastSeq} may be a mere number. */
	get lastKnown(): Pick<LogEvent, "seq" | "id"> | null {
		return this.#lastKnown;
	}

	/** The log is known to reach this far. */
	reaches(seq: number): void {
		this.#lastSeq = Math.max(this.#lastSeq, seq);
	}

	/**
	 * Events were published. Kept in memory only when a lane is near enough to use them soon.
	 *
	 * @returns the first event whose number this reader already counted as taken, unless it holds that very event; null
	 *   if there is none. Either the read that counted it saw this append, or the log went back and uses numbers again.
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

	/** A chunk in memory that goes on behind the lane's place. */
	find(lane: Reading): Chunk | undefined {
		return this.#chunks.findLast((chunk) => chunk.serves(lane.position, lane.typesKey));
	}

	/**
	 * Reads on behind the lane's place, unless that read is under way.
	 *
	 * @returns the key under which the rows will be delivered, or null when too many reads are under way
	 */
	request(lane: Reading): string | null {
		const key = `${lane.position} ${lane.typesKey ?? ""}`;
		if (this.#reads.has(key)) return key;
		if (this.#reads.size >= WINDOWS.readsPerProject) return null;
		this.#reads.add(key);
		void this.#read(key, lane.position, lane.typesKey, lane.types);
		return key;
	}

	/** Open events were read by number: kept like a window, until others need the room. */
	holdOpen(events: readonly LogEvent[]): Chunk {
		const chunk = Chunk.ofOpen(events);
		if (events.length > 0) this.#keep(chunk);
		return chunk;
	}

	/** Forgets what it holds, and keeps nothing of what is still being read. */
	end(): void {
		this.#over = true;
		for (const chunk of this.#chunks.splice(0)) this.#budget.give(chunk);
	}

	async #read(key: string, position: number, typesKey: string | null, types?: readonly string[]): Promise<void> {
		// When nothing comes back, nothing up to here is of these types.
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
