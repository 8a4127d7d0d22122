import { Budget } from "../../base/budget.ts";
import { SENDS } from "../../base/budgets.ts";
import type { Clock, Timer } from "../../base/clock.ts";

/**
 * Admission of sends: how many may be in flight at once on this node, with how many bytes, and whose.
 *
 * Three bounds, for three kinds of harm.
 *
 * - Work. Requests that are answered quickly keep the event loop busy, and beyond a few hundred only queue up in it. So at
 *   most {@link FAST_IN_FLIGHT} sends are *fast*. A send is fast until it is {@link FAST_FOR_MS} old; from then on it waits
 *   rather than works, costs next to nothing and makes room: a receiver that hangs does not hold up the others.
 * - Sockets. At most `totalInFlight` sends are in flight in all.
 * - Memory. Their bodies take at most `bytesInFlight`, and the one that reaches it. A slot taken before the body is known
 *   counts as the largest body until {@link Slot.holds} says how large it is.
 *
 * A project with many hanging receivers must not fill the last two, so of each it may hold at most as much as is still
 * free (the dynamic threshold of Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches",
 * 1998, with α = 1): one project alone gets half, n greedy ones get 1/(n+1) each, and some always stays free for the next
 * to come. A project that holds nothing gets a slot while any are free.
 *
 * Whoever is refused leaves a callback. When something frees, the callbacks of projects that may hold more are called in
 * the order in which they were left, as long as there is room. One that is called takes one slot and, for more, leaves
 * itself again, behind the others: round robin over projects. A project over its share keeps its turn until it is not.
 *
 * What a person asked for (a test event, a single replay) does not take part in this. A few slots of each project are set
 * aside for it, within a limit for the node. Their work and bytes count, but nothing of the above refuses them.
 */
export interface Slots {
	/** Room for one send of this project, or null if there is none now. @param bytes its body, if that is known yet */
	tryAcquire(projectId: string, bytes?: number): Slot | null;
	/** A slot set aside for what a person asked for, or null if the project's, or all of the node's, are taken. */
	tryAcquireRequested(projectId: string): Slot | null;
	/** Calls `callback` once when there is room for this project; leaving it again before that changes nothing. */
	onFree(projectId: string, callback: () => void): void;
	/** Takes a callback back. */
	forget(callback: () => void): void;
	/** How many sends are in flight, requested ones included, and how many of them are fast. */
	readonly inFlight: number;
	readonly fast: number;
	/** For metrics. */
	readonly budgets: readonly Pick<Budget, "name" | "limit" | "used" | "refusals">[];
}

export interface Slot {
	/** Whether it is one of those set aside. */
	readonly requested: boolean;
	/** Says how large the body is. */
	holds(bytes: number): void;
	/** Frees the slot; harmless when repeated. */
	release(): void;
}

export interface SlotsOptions {
	readonly clock: Clock;
	readonly fastInFlight?: number;
	readonly fastForMs?: number;
	/** Without those set aside. */
	readonly totalInFlight?: number;
	readonly bytesInFlight?: number;
	/** What a body counts as until its size is known. */
	readonly largestBody?: number;
	/** Slots set aside for what people asked for. */
	readonly requestedInFlight?: number;
}

/** As measured on two cores: the event loop's p99 delay stays at 35 to 48 ms; without a bound it was 90. */
export const FAST_IN_FLIGHT = 256;

/** Older sends wait for the network or the receiver, milliseconds. */
export const FAST_FOR_MS = 250;

export function createSlots(options: SlotsOptions): Slots {
	return new SlotTable(options);
}

/** A send in flight. The fast ones form a list, the oldest first. */
class Entry implements Slot {
	readonly #table: SlotTable;
	readonly projectId: string;
	readonly requested: boolean;
	readonly since: number;
	bytes: number;
	older: Entry | null = null;
	newer: Entry | null = null;
	fast = true;
	held = true;

	constructor(table: SlotTable, projectId: string, requested: boolean, bytes: number, since: number) {
		this.#table = table;
		this.projectId = projectId;
		this.requested = requested;
		this.bytes = bytes;
		this.since = since;
	}

	holds(bytes: number): void {
		if (this.held && bytes !== this.bytes) this.#table.resize(this, bytes);
	}

	release(): void {
		if (this.held) this.#table.release(this);
	}
}

/** What one project holds. */
interface Holding {
	sends: number;
	bytes: number;
}

const NOTHING: Readonly<Holding> = { sends: 0, bytes: 0 };

class SlotTable implements Slots {
	readonly #clock: Clock;
	readonly #maxFast: number;
	readonly #fastForMs: number;
	readonly #maxTotal: number;
	readonly #maxBytes: number;
	readonly #largestBody: number;
	readonly #requested: Budget;
	/** One that holds nothing has no entry. Requested sends are not in here. */
	readonly #holdings = new Map<string, Holding>();
	readonly #waiting = new Map<() => void, string>();
	#oldest: Entry | null = null;
	#newest: Entry | null = null;
	#fast = 0;
	#total = 0;
	#bytes = 0;
	#granted = 0;
	#refusedSends = 0;
	#refusedBytes = 0;
	#timer: Timer | null = null;
	#calling = false;

	constructor(options: SlotsOptions) {
		this.#clock = options.clock;
		this.#maxFast = options.fastInFlight ?? FAST_IN_FLIGHT;
		this.#fastForMs = options.fastForMs ?? FAST_FOR_MS;
		this.#maxTotal = options.totalInFlight ?? SENDS.inFlight - SENDS.requestedInFlight;
		this.#maxBytes = options.bytesInFlight ?? SENDS.bytesInFlight;
		this.#largestBody = options.largestBody ?? 0;
		this.#requested = new Budget({
			name: "requested_sends",
			limit: options.requestedInFlight ?? SENDS.requestedInFlight,
			perOwner: SENDS.requestedPerProject,
		});
	}

	get inFlight(): number {
		return this.#total + this.#requested.used;
	}

	get fast(): number {
		return this.#fast;
	}

	get budgets(): Slots["budgets"] {
		const table = this;
		return [
			{
				name: "sends",
				limit: this.#maxTotal,
				get used() {
					return table.#total;
				},
				get refusals() {
					return table.#refusedSends;
				},
			},
			{
				name: "sending_bytes",
				limit: this.#maxBytes,
				get used() {
					return table.#bytes;
				},
				get refusals() {
					return table.#refusedBytes;
				},
			},
			this.#requested,
		];
	}

	tryAcquire(projectId: string, bytes = this.#largestBody): Slot | null {
		if (this.#fast >= this.#maxFast) this.#moveOldOnes();
		if (this.#fast >= this.#maxFast) return null;
		const holding = this.#holdings.get(projectId);
		const { sends, bytes: held } = holding ?? NOTHING;
		if (!fits(sends, this.#maxTotal - this.#total)) {
			this.#refusedSends += 1;
			return null;
		}
		const small = sends === 0 && bytes <= SENDS.smallBodyBytes;
		if (!small && !fits(held, this.#maxBytes - this.#bytes)) {
			this.#refusedBytes += 1;
			return null;
		}
		if (holding) {
			holding.sends += 1;
			holding.bytes += bytes;
		} else this.#holdings.set(projectId, { sends: 1, bytes });
		this.#total += 1;
		this.#granted += 1;
		return this.#begin(projectId, false, bytes);
	}

	tryAcquireRequested(projectId: string): Slot | null {
		if (this.#requested.take(projectId, 1) !== null) return null;
		return this.#begin(projectId, true, this.#largestBody);
	}

	onFree(projectId: string, callback: () => void): void {
		if (!this.#waiting.has(callback)) this.#waiting.set(callback, projectId);
		this.#watch();
	}

	forget(callback: () => void): void {
		this.#waiting.delete(callback);
	}

	resize(entry: Entry, bytes: number): void {
		const less = entry.bytes - bytes;
		entry.bytes = bytes;
		this.#bytes -= less;
		if (!entry.requested) this.#holdings.get(entry.projectId)!.bytes -= less;
		if (less > 0) this.#callWaiting();
	}

	release(entry: Entry): void {
		entry.held = false;
		this.#bytes -= entry.bytes;
		if (entry.requested) this.#requested.give(entry.projectId, 1);
		else {
			this.#total -= 1;
			const holding = this.#holdings.get(entry.projectId)!;
			holding.sends -= 1;
			holding.bytes -= entry.bytes;
			if (holding.sends === 0) this.#holdings.delete(entry.projectId);
		}
		if (entry.fast) this.#remove(entry);
		this.#callWaiting();
	}

	#begin(projectId: string, requested: boolean, bytes: number): Entry {
		const entry = new Entry(this, projectId, requested, bytes, this.#clock.now());
		this.#bytes += bytes;
		this.#append(entry);
		return entry;
	}

	#hasRoom(): boolean {
		return this.#fast < this.#maxFast && this.#total < this.#maxTotal && this.#bytes < this.#maxBytes;
	}

	#mayHoldMore(projectId: string): boolean {
		const { sends, bytes } = this.#holdings.get(projectId) ?? NOTHING;
		return fits(sends, this.#maxTotal - this.#total) && fits(bytes, this.#maxBytes - this.#bytes);
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
				for (const [callback, projectId] of this.#waiting) {
					if (left-- === 0 || !this.#hasRoom()) break;
					if (!this.#mayHoldMore(projectId)) continue;
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

/** The dynamic threshold: a project may take more while it holds less than is free. */
function fits(held: number, free: number): boolean {
	return held < free;
}
