import { WINDOWS } from "../../base/budgets.ts";
import { Bag, type Linked, LinkedList, lowerBound } from "../../base/collections.ts";
import type { LogEvent, LogStorage } from "../../storage/port.ts";
import type { Lane } from "./lane.ts";
import { PackedEvents, recordBytes } from "./packed-events.ts";

/** Lanes this close to the end of the log are fed from memory as events are published. */
const NEAR_END = 256;

/** Awaited by a lane that found too many reads in flight: the end of any of them. */
export const ANY_READ = "any";

/** Awaited by a lane that reads its open events by sequence number. */
export const OPEN_READ = "open";

/** The end of a project's log as its actor knows it. */
export interface LogEnd {
	/** The last number that the log is known to have. */
	readonly lastSeq: number;
	/** Lanes that follow the log were notified of everything up to here. */
	readonly announced: number;
}

/** A project's log for a lane, which says when it needs events in memory. */
export interface Log extends LogEnd {
	announced: number;
	/** The lane may need events after its position. */
	enter(lane: Placed): void;
	/** Nothing is left for the lane in the log, for now. */
	leave(lane: Placed): void;
}

type Placed = Pick<Lane, "bagIndex" | "position">;

/** The parts of a lane that a read depends on. */
type Reading = Pick<Lane, "position" | "typesKey" | "types">;

export interface LogReaderOptions {
	readonly storage: Pick<LogStorage, "readLog">;
	readonly projectId: string;
	readonly budget: WindowBudget;
	/** Passes on a chunk that is being read, for the lanes that wait for this key. */
	readonly deliver: (key: string, reading: Promise<Chunk>) => void;
}

/**
 * Reads a project's log for its lanes. Lanes at the end are fed published events without a read. A lane further back
 * gets a window of the types that it wants, starting at its position; lanes at the same position share it. Rows go
 * directly to the lanes that asked for them, so an overflowing cache can delay lanes but not stall them.
 */
export class LogReader implements Log {
	readonly #options: LogReaderOptions;
	readonly #budget: WindowBudget;
	#chunks: Chunk[] = [];
	/** How many of them a lane was about to read when they were last looked through. */
	#needed = 0;
	/** The lanes that may need events. Chunks that none of them is about to read are dropped. */
	readonly #behind = new Bag<Placed>();
	readonly #reads = new Set<string>();
	lastSeq = 0;
	announced = 0;
	/** The last event published here or read. {@link lastSeq} may be known only as a number. */
	lastKnown: Pick<LogEvent, "seq" | "id"> | null = null;
	#over = false;

	constructor(options: LogReaderOptions) {
		this.#options = options;
		this.#budget = options.budget;
	}

	reaches(seq: number): void {
		this.lastSeq = Math.max(this.lastSeq, seq);
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
		// Not once some are kept: until they are announced, no lane seems to need them.
		this.#dropIfDoubled();
		for (const event of events) {
			if (event.seq <= this.lastSeq) {
				if (!this.#holds(event)) doubtful ??= event;
				continue;
			}
			const follows = event.seq === this.lastSeq + 1;
			if (follows && foremost >= this.lastSeq - NEAR_END) this.#extendEnd(event);
			this.lastSeq = event.seq;
		}
		this.#know(events.at(-1));
		return doubtful;
	}

	enter(lane: Placed): void {
		if (!this.#behind.has(lane)) this.#behind.add(lane);
	}

	leave(lane: Placed): void {
		if (this.#behind.delete(lane) && this.#behind.size === 0) this.#dropUnneeded();
	}

	find(lane: Reading): Chunk | undefined {
		return this.#chunks.findLast((chunk) => chunk.serves(lane.position, lane.typesKey));
	}

	/** Reads on after the lane's position. @returns the key of that read; null if too many are in flight */
	request(lane: Reading): string | null {
		const key = `${lane.position} ${lane.typesKey ?? ""}`;
		if (this.#reads.has(key)) return key;
		if (this.#reads.size >= WINDOWS.readsPerProject) return null;
		this.#reads.add(key);
		this.#options.deliver(
			key,
			this.#read(lane).finally(() => this.#reads.delete(key)),
		);
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
		this.#behind.takeAll();
		this.#dropUnneeded();
	}

	async #read({ position, typesKey, types }: Reading): Promise<Chunk> {
		const { storage, projectId } = this.#options;
		// If the read returns nothing, no event up to here has these types.
		const known = this.lastSeq;
		const window = { maxEvents: WINDOWS.events, maxBytes: this.#budget.windowBytes };
		const events = await storage.readLog({ projectId, after: position, window, types });
		const through = events.at(-1)?.seq ?? Math.max(known, position);
		const chunk = new Chunk(position, through, events, typesKey);
		if (this.#over) return chunk;
		this.#know(events.at(-1));
		this.reaches(through);
		if (events.length > 0) this.#keep(chunk);
		return chunk;
	}

	#know(event: LogEvent | undefined): void {
		if (event && event.seq > (this.lastKnown?.seq ?? 0)) this.lastKnown = { seq: event.seq, id: event.id };
	}

	#holds({ seq, id }: LogEvent): boolean {
		if (this.lastKnown?.seq === seq) return this.lastKnown.id === id;
		return this.#chunks.some(({ after, through, events }) => {
			return after < seq && seq <= through && events.find(seq)?.id === id;
		});
	}

	#extendEnd(event: LogEvent): void {
		const end = this.#chunks.findLast((chunk) => chunk.types === null && chunk.through === event.seq - 1);
		const before = end?.bytes ?? 0;
		if (end?.extend(event)) this.#budget.grow(end, end.bytes - before);
		else this.#add(new Chunk(event.seq - 1, event.seq, [event], null));
	}

	#keep(chunk: Chunk): void {
		this.#dropIfDoubled();
		this.#add(chunk);
	}

	#add(chunk: Chunk): void {
		this.#chunks.push(chunk);
		if (this.#chunks.length > WINDOWS.windowsPerProject) this.#budget.give(this.#chunks.shift()!);
		this.#budget.take(chunk, () => {
			const at = this.#chunks.indexOf(chunk);
			if (at >= 0) this.#chunks.splice(at, 1);
		});
	}

	/** Looking through the chunks takes time if lanes are many, so it waits until they have doubled. */
	#dropIfDoubled(): void {
		if (this.#chunks.length >= 2 * Math.max(1, this.#needed)) this.#dropUnneeded();
	}

	/** Drops chunks that all lanes have passed, or are so far behind that others will need the room first. */
	#dropUnneeded(): void {
		if (this.#chunks.length === 0) return;
		const positions = Float64Array.from(this.#behind.toArray(), ({ position }) => position).sort();
		const isNeeded = ({ isOpen, after, through }: Chunk): boolean => {
			if (isOpen) return positions.length > 0;
			const first = lowerBound(positions.length, (index) => positions[index]! < after - WINDOWS.reach);
			return (positions[first] ?? through) < through;
		};
		const chunks = this.#chunks;
		this.#chunks = chunks.filter(isNeeded);
		this.#needed = this.#chunks.length;
		if (this.#chunks.length === chunks.length) return;
		for (const chunk of chunks) if (!this.#chunks.includes(chunk)) this.#budget.give(chunk);
	}
}

/**
 * A section of a project's log in memory: every event with `after < seq ≤ through` of the types that it was read for
 * (all types if `types` is null). Lanes share chunks instead of copying them. An evicted chunk is emptied, and no
 * longer serves any lane.
 */
export class Chunk implements Linked<Chunk> {
	readonly after: number;
	readonly types: string | null;
	readonly events: PackedEvents;
	through: number;
	isEmptied = false;
	/** Whether its events were read by sequence number. */
	readonly isOpen: boolean;
	// Set by the budget that holds it.
	previous: Chunk | null = null;
	next: Chunk | null = null;
	evicted: (() => void) | null = null;

	/** A chunk of events read by sequence number. It says nothing about the events in between. */
	static ofOpen(events: readonly LogEvent[]): Chunk {
		return new Chunk(-1, -1, events, "", true);
	}

	constructor(after: number, through: number, events: readonly LogEvent[], types: string | null, isOpen = false) {
		this.after = after;
		this.through = through;
		this.events = new PackedEvents(events);
		this.types = types;
		this.isOpen = isOpen;
	}

	/** Bytes of memory that it takes. */
	get bytes(): number {
		return this.events.bytes;
	}

	empty(): void {
		this.isEmptied = true;
		this.events.free();
		this.through = this.after;
	}

	/** Whether it holds what follows `position` for a lane with subscriptions `types`. */
	serves(position: number, types: string | null): boolean {
		return this.after <= position && position < this.through && (this.types === null || this.types === types);
	}

	/** Appends the next event, if there is room. */
	extend(event: LogEvent): boolean {
		if (this.isEmptied || this.types !== null || event.seq !== this.through + 1) return false;
		if (this.events.length >= WINDOWS.freshEvents || this.bytes + recordBytes(event) > WINDOWS.freshBytes) return false;
		this.events.add(event);
		this.through = event.seq;
		return true;
	}

	indexAfter(position: number): number {
		return lowerBound(this.events.length, (index) => this.events.seqAt(index) <= position);
	}
}

/**
 * Limits how much of their logs all lanes of the node hold in memory, whatever the backlog: the least recently used
 * chunk is evicted first. It is emptied, so that a lane that hasn't finished it holds nothing either, and reads again
 * when it may send more. Windows shrink as the number of lanes grows.
 */
export class WindowBudget {
	readonly name = "window_bytes";
	readonly limit: number;
	readonly refusals = 0;
	readonly #held = new LinkedList<Chunk>();
	/** Bytes held now. */
	used = 0;
	#lanes = 0;

	constructor(limit: number = WINDOWS.bytes) {
		this.limit = limit;
	}

	/** The largest window to read now. */
	get windowBytes(): number {
		const part = Math.floor(this.limit / Math.max(1, this.#lanes));
		return Math.min(WINDOWS.largestBytes, Math.max(WINDOWS.smallestBytes, part));
	}

	countLanes(change: number): void {
		this.#lanes += change;
	}

	/** Adds a chunk; `evicted` is called when it is evicted. */
	take(chunk: Chunk, evicted: () => void): void {
		chunk.evicted = evicted;
		this.#held.add(chunk);
		this.used += chunk.bytes;
		this.#shrink();
	}

	/** A chunk grew by this many bytes, so lanes are near it. */
	grow(chunk: Chunk, bytes: number): void {
		this.#held.remove(chunk);
		this.#held.add(chunk);
		this.used += bytes;
		this.#shrink();
	}

	/** Removes a chunk and empties it, since an uncounted chunk must hold nothing. */
	give(chunk: Chunk): void {
		this.#held.remove(chunk);
		this.used -= chunk.bytes;
		chunk.empty();
	}

	#shrink(): void {
		while (this.used > this.limit && this.#held.first !== null) {
			const { first } = this.#held;
			this.give(first);
			first.evicted?.();
		}
	}
}
