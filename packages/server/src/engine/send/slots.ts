import type { Clock, Timer } from "../../base/clock.ts";

/**
 * Admission of sends: how many may be under way at once on this node, and whose.
 *
 * Two bounds, for two kinds of harm.
 *
 * - Work. Requests that answer at once keep the event loop busy, and beyond a few hundred only queue up in it. So at most
 *   {@link FAST_IN_FLIGHT} sends are *fast*. A send is fast until it is {@link FAST_FOR_MS} old; from then on it
 *   waits rather than works, costs next to nothing and makes room: a receiver that hangs does not hold up the others.
 * - Memory and sockets. At most {@link TOTAL_IN_FLIGHT} sends are under way in all. Whoever has many hanging receivers
 *   must not fill that, so a project may hold at most as many as are still free (the dynamic threshold of Choudhury
 *   and Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998, with α = 1): one project alone
 *   gets half, n greedy ones get 1/(n+1) each, and some always stay free for the next to come. One is always granted while any
 *   are free.
 *
 * Who got none leaves a callback. When something frees, callbacks are called in the order in which they were left, as
 * long as there is room. One that is called takes one slot and, for more or if it got none, leaves itself again, behind
 * the others: round robin.
 */
export interface Slots {
	/** Room for one send of this project, or null when there is none now. */
	tryAcquire(projectId: string): Slot | null;
	/**
	 * Calls `callback` once when something has freed; leaving it again before that changes nothing. It may be called from
	 * within another's `release`.
	 */
	onFree(callback: () => void): void;
	/** Takes a callback back. */
	forget(callback: () => void): void;
	/** How many sends are under way, and how many of them are fast. */
	readonly inFlight: number;
	readonly fast: number;
}

export interface Slot {
	/** Gives the room back; harmless when repeated. */
	release(): void;
}

export interface SlotsOptions {
	readonly clock: Clock;
	readonly fastInFlight?: number;
	readonly fastForMs?: number;
	readonly totalInFlight?: number;
}

/** As measured on two cores: the event loop's p99 delay stays at 35 to 48 ms; without a bound it was 90. */
export const FAST_IN_FLIGHT = 256;

/** Older sends wait for the network or the receiver, milliseconds. */
export const FAST_FOR_MS = 250;

/** Each takes a socket and some 50 kB with TLS, so about 400 MB at the worst. */
export const TOTAL_IN_FLIGHT = 8_192;

export function createSlots(options: SlotsOptions): Slots {
	return new SlotTable(options);
}

/** A send under way. The fast ones form a list, the oldest first. */
class Entry implements Slot {
	readonly #table: SlotTable;
	readonly projectId: string;
	readonly since: number;
	older: Entry | null = null;
	newer: Entry | null = null;
	fast = true;
	held = true;

	constructor(table: SlotTable, projectId: string, since: number) {
		this.#table = table;
		this.projectId = projectId;
		this.since = since;
	}

	release(): void {
		this.#table.release(this);
	}
}

class SlotTable implements Slots {
	readonly #clock: Clock;
	readonly #maxFast: number;
	readonly #fastForMs: number;
	readonly #maxTotal: number;
	/** How many each project holds; one that holds none has no entry. */
	readonly #held = new Map<string, number>();
	readonly #waiting = new Set<() => void>();
	#oldest: Entry | null = null;
	#newest: Entry | null = null;
	#fast = 0;
	#total = 0;
	#granted = 0;
	#timer: Timer | null = null;
	#calling = false;

	constructor(options: SlotsOptions) {
		this.#clock = options.clock;
		this.#maxFast = options.fastInFlight ?? FAST_IN_FLIGHT;
		this.#fastForMs = options.fastForMs ?? FAST_FOR_MS;
		this.#maxTotal = options.totalInFlight ?? TOTAL_IN_FLIGHT;
	}

	get inFlight(): number {
		return this.#total;
	}

	get fast(): number {
		return this.#fast;
	}

	tryAcquire(projectId: string): Slot | null {
		if (this.#fast >= this.#maxFast) this.#moveOldOnes();
		if (!this.#hasRoom()) return null;
		const held = this.#held.get(projectId) ?? 0;
		if (held > 0 && held >= this.#maxTotal - this.#total) return null;
		const entry = new Entry(this, projectId, this.#clock.now());
		this.#held.set(projectId, held + 1);
		this.#total++;
		this.#granted++;
		this.#append(entry);
		return entry;
	}

	onFree(callback: () => void): void {
		this.#waiting.add(callback);
		this.#watch();
	}

	forget(callback: () => void): void {
		this.#waiting.delete(callback);
	}

	release(entry: Entry): void {
		if (!entry.held) return;
		entry.held = false;
		this.#total--;
		const held = this.#held.get(entry.projectId)! - 1;
		if (held === 0) this.#held.delete(entry.projectId);
		else this.#held.set(entry.projectId, held);
		if (entry.fast) this.#remove(entry);
		this.#callWaiting();
	}

	#hasRoom(): boolean {
		return this.#fast < this.#maxFast && this.#total < this.#maxTotal;
	}

	/** Rounds over those that wait, each called once a round, as long as there is room and the last round used some. */
	#callWaiting(): void {
		if (this.#calling || this.#waiting.size === 0) return;
		this.#calling = true;
		try {
			let granted: number;
			do {
				granted = this.#granted;
				let left = this.#waiting.size;
				for (const callback of this.#waiting) {
					if (left-- === 0 || !this.#hasRoom()) break;
					this.#waiting.delete(callback);
					callback();
				}
			} while (this.#granted > granted && this.#hasRoom());
		} finally {
			this.#calling = false;
			this.#watch();
		}
	}

	/** Sends that stop being fast tell nobody, so somebody who waits for that needs a timer; one is enough for all. */
	#watch(): void {
		if (this.#timer !== null || this.#waiting.size === 0 || this.#oldest === null || this.#fast < this.#maxFast) return;
		const dueIn = this.#oldest.since + this.#fastForMs - this.#clock.now();
		this.#timer = this.#clock.setTimeout(
			() => {
				this.#timer = null;
				this.#moveOldOnes();
				if (this.#hasRoom()) this.#callWaiting();
				else this.#watch();
			},
			Math.min(Math.max(dueIn, 1), this.#fastForMs),
		);
	}

	#moveOldOnes(): void {
		const now = this.#clock.now();
		// Times in the future are those of a clock that was set back: they would stay fast for too long.
		while (this.#oldest !== null && Math.abs(now - this.#oldest.since) >= this.#fastForMs) this.#remove(this.#oldest);
	}

	#append(entry: Entry): void {
		this.#fast++;
		entry.older = this.#newest;
		if (this.#newest === null) this.#oldest = entry;
		else this.#newest.newer = entry;
		this.#newest = entry;
	}

	#remove(entry: Entry): void {
		this.#fast--;
		entry.fast = false;
		if (entry.older === null) this.#oldest = entry.newer;
		else entry.older.newer = entry.newer;
		if (entry.newer === null) this.#newest = entry.older;
		else entry.newer.older = entry.older;
		entry.older = null;
		entry.newer = null;
	}
}
