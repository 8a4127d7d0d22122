import type { Budget } from "../../base/budget.ts";
import { SENDS } from "../../base/budgets.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import { type FastSend, FastSends } from "./fast-sends.ts";
import { RequestedSlots } from "./requested-slots.ts";

/**
 * Admission of sends: how many may be in flight at once on this node, with how many bytes, and whose.
 *
 * Three bounds, for three kinds of harm.
 *
 * - Work. Requests that are answered quickly keep the event loop busy, so only so many sends are *fast* (fast-sends.ts).
 *   From a certain age on a send waits rather than works, costs next to nothing and makes room: a receiver that hangs does
 *   not hold up the others.
 * - Sockets. At most `totalInFlight` sends are in flight in all.
 * - Memory. Their bodies take at most `bytesInFlight`, and the one that reaches it. A slot taken before the body is known
 *   counts as the largest body until {@link Slot.holds} says how large it is. When these bytes are used up, a project that
 *   has nothing in flight may send a small body: there are bytes set aside for those.
 *
 * A project with many hanging receivers must not fill the last two, so of each it may hold at most as much as is still
 * free (the dynamic threshold of Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches",
 * 1998, with α = 1): one project alone gets half, n greedy ones get 1/(n+1) each, and some always stays free for the next
 * to come. A project that holds nothing gets a slot while any are free.
 *
 * A project that is refused registers a callback. When room is freed, the callbacks of projects that may hold more are
 * called in the order in which they were registered, as long as there is room. Each takes one slot and, if it needs more,
 * registers again, at the end of the line: round robin over projects. A project over its share, and one whose body finds no
 * room, keeps its turn until it does. Any free byte is room for any body, so a large one waits no longer than a smaller one.
 *
 * What a person asked for (a test event, a single replay) does not take part in this. Slots and bytes are set aside for
 * it, a few slots for each project, and its callbacks come first. It counts as fast, but is never refused for that.
 */
export interface Slots {
	/** Room for one send of this project, or null if there is none now. @param bytes its body, if that is known yet */
	tryAcquire(projectId: string, bytes?: number): Slot | null;
	/** A slot set aside for what a person asked for, or null if the project's, or all of the node's, are taken. */
	tryAcquireRequested(projectId: string, bytes?: number): Slot | null;
	/**
	 * Calls `callback` once when there is room for this project. Leaving it again before that keeps its turn.
	 *
	 * @param bytes the body that waits, if that is known yet: the smallest, if there are several
	 */
	onFree(projectId: string, callback: () => void, bytes?: number): void;
	/** The same for the slots that are set aside for what people asked for. A project leaves one callback at a time. */
	onRequestedFree(projectId: string, callback: () => void, bytes?: number): void;
	/** Takes a callback back. */
	forget(projectId: string, callback: () => void): void;
	/** How many sends are in flight, requested ones included, and how many of them are fast. */
	readonly inFlight: number;
	readonly fast: number;
	/** For metrics. */
	readonly budgets: readonly Pick<Budget, "name" | "limit" | "used" | "refusals">[];
}

export interface Slot {
	/** Says how large the body is. */
	holds(bytes: number): void;
	/** Says how large the body is, if there is room for that. */
	tryHold(bytes?: number): boolean;
	/** Frees the slot; harmless when repeated. */
	release(): void;
}

export interface SlotsOptions {
	readonly clock: Pick<Clock, "now" | "setTimeout">;
	readonly fastInFlight?: number;
	readonly fastForMs?: number;
	/** Without those set aside. */
	readonly totalInFlight?: number;
	readonly bytesInFlight?: number;
	/** What a body counts as until its size is known. */
	readonly largestBody?: number;
	/** Slots set aside for what people asked for. */
	readonly requestedInFlight?: number;
	readonly requestedBytesInFlight?: number;
}

export function createSlots(options: SlotsOptions): Slots {
	return new SlotTable(options);
}

/** Bytes of bodies in flight. Any free one is room for any body. */
class Bytes {
	readonly name: string;
	readonly limit: number;
	used = 0;
	refusals = 0;

	constructor(name: string, limit: number) {
		this.name = name;
		this.limit = limit;
	}

	get free(): number {
		return this.limit - this.used;
	}
}

class Entry implements Slot, FastSend {
	readonly #table: SlotTable;
	readonly projectId: string;
	/** What its project holds of what all share; null if it was requested. */
	readonly holding: Holding | null;
	readonly since: number;
	/** Where its bytes count. */
	pot: Bytes;
	bytes: number;
	older: FastSend | null = null;
	newer: FastSend | null = null;
	fast = false;
	held = true;

	constructor(table: SlotTable, projectId: string, holding: Holding | null, pot: Bytes, bytes: number, since: number) {
		this.#table = table;
		this.projectId = projectId;
		this.holding = holding;
		this.pot = pot;
		this.bytes = bytes;
		this.since = since;
	}

	holds(bytes: number): void {
		if (this.held && bytes !== this.bytes) this.#table.resize(this, bytes);
	}

	tryHold(bytes?: number): boolean {
		return this.held && this.#table.tryResize(this, bytes);
	}

	release(): void {
		if (this.held) this.#table.release(this);
	}
}

/** What one project holds of what all share. */
interface Holding {
	sends: number;
	bytes: number;
}

const NOTHING: Readonly<Holding> = { sends: 0, bytes: 0 };

/** A project that waits for a slot of those that all share. */
interface SharedWaiter {
	readonly projectId: string;
	readonly bytes: number;
}

class SlotTable implements Slots {
	readonly #clock: Pick<Clock, "now" | "setTimeout">;
	readonly #fast: FastSends;
	readonly #maxTotal: number;
	readonly #largestBody: number;
	readonly #shared: Bytes;
	readonly #small = new Bytes("small_sending_bytes", SENDS.smallBytesInFlight);
	readonly #requestedBytes: Bytes;
	readonly #requested: RequestedSlots;
	/** One that holds nothing has no entry. Requested sends are not in here. */
	readonly #holdings = new Map<string, Holding>();
	readonly #waiting = new Map<() => void, SharedWaiter>();
	/** How many of those wait with a small body. */
	#waitingSmall = 0;
	#total = 0;
	#granted = 0;
	#refusedSends = 0;
	#timer: Timer | null = null;
	#calling = false;

	constructor(options: SlotsOptions) {
		const { clock } = options;
		this.#clock = clock;
		this.#fast = new FastSends(clock, options.fastInFlight, options.fastForMs);
		this.#maxTotal = options.totalInFlight ?? SENDS.inFlight - SENDS.requestedInFlight;
		this.#largestBody = options.largestBody ?? 0;
		this.#shared = new Bytes("sending_bytes", options.bytesInFlight ?? SENDS.bytesInFlight);
		this.#requestedBytes = new Bytes(
			"requested_sending_bytes",
			options.requestedBytesInFlight ?? SENDS.requestedBytesInFlight,
		);
		this.#requested = new RequestedSlots(
			options.requestedInFlight ?? SENDS.requestedInFlight,
			(bytes) => this.#requestedPot(bytes) !== null,
		);
	}

	get inFlight(): number {
		return this.#total + this.#requested.budget.used;
	}

	get fast(): number {
		return this.#fast.count;
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
			this.#shared,
			this.#small,
			this.#requested.budget,
			this.#requestedBytes,
		];
	}

	tryAcquire(projectId: string, bytes = this.#largestBody): Slot | null {
		if (this.#fast.isFull) this.#fast.removeOld();
		if (this.#fast.isFull) return null;
		let holding = this.#holdings.get(projectId);
		const { sends, bytes: held } = holding ?? NOTHING;
		if (!fits(sends, this.#maxTotal - this.#total)) {
			this.#refusedSends += 1;
			return null;
		}
		const pot = this.#sharedPot(held, bytes, sends);
		if (pot === null) {
			this.#shared.refusals += 1;
			return null;
		}
		if (!holding) {
			holding = { sends: 0, bytes: 0 };
			this.#holdings.set(projectId, holding);
		}
		holding.sends += 1;
		this.#total += 1;
		this.#granted += 1;
		return this.#begin(projectId, holding, pot, bytes);
	}

	tryAcquireRequested(projectId: string, bytes = this.#largestBody): Slot | null {
		if (!this.#requested.take(projectId, bytes)) return null;
		return this.#begin(projectId, null, this.#requestedPot(bytes)!, bytes);
	}

	onFree(projectId: string, callback: () => void, bytes = this.#largestBody): void {
		this.#stopWaiting(callback, true);
		this.#waiting.set(callback, { projectId, bytes });
		if (isSmallBody(bytes)) this.#waitingSmall += 1;
		this.#watch();
	}

	onRequestedFree(projectId: string, callback: () => void, bytes = this.#largestBody): void {
		this.#requested.wait(projectId, { callback, bytes });
	}

	forget(projectId: string, callback: () => void): void {
		this.#stopWaiting(callback);
		this.#requested.forget(projectId, callback);
	}

	resize(entry: Entry, bytes: number): void {
		const less = entry.bytes - bytes;
		this.#count(entry, -entry.bytes);
		if (entry.pot === this.#small && !isSmallBody(bytes)) entry.pot = this.#shared;
		entry.bytes = bytes;
		this.#count(entry, bytes);
		if (less > 0) this.#callWaiting();
	}

	tryResize(entry: Entry, bytes = this.#largestBody): boolean {
		if (bytes > entry.bytes) {
			const { holding } = entry;
			// As if it held nothing yet.
			this.#count(entry, -entry.bytes);
			const pot = holding ? this.#sharedPot(holding.bytes, bytes, holding.sends - 1) : this.#requestedPot(bytes);
			if (pot !== null) entry.pot = pot;
			this.#count(entry, entry.bytes);
			if (pot === null) return false;
		}
		this.resize(entry, bytes);
		return true;
	}

	release(entry: Entry): void {
		entry.held = false;
		this.#count(entry, -entry.bytes);
		const { holding, projectId } = entry;
		if (holding) {
			this.#total -= 1;
			holding.sends -= 1;
			if (holding.sends === 0) this.#holdings.delete(projectId);
		} else this.#requested.give(projectId);
		this.#fast.remove(entry);
		this.#callWaiting();
	}

	#begin(projectId: string, holding: Holding | null, pot: Bytes, bytes: number): Entry {
		const entry = new Entry(this, projectId, holding, pot, bytes, this.#clock.now());
		this.#count(entry, bytes);
		this.#fast.add(entry);
		return entry;
	}

	#count({ holding, pot }: Entry, bytes: number): void {
		pot.used += bytes;
		if (holding && pot === this.#shared) holding.bytes += bytes;
	}

	/**
	 * Where this body has room now.
	 *
	 * @param held bytes that its project holds of what all share
	 * @param sends its project's other sends in flight
	 */
	#sharedPot(held: number, bytes: number, sends: number): Bytes | null {
		if (fits(held, this.#shared.free)) return this.#shared;
		return sends === 0 && isSmallBody(bytes) && this.#small.free > 0 ? this.#small : null;
	}

	#requestedPot(bytes: number): Bytes | null {
		if (this.#requestedBytes.free > 0) return this.#requestedBytes;
		if (this.#shared.free > 0) return this.#shared;
		return isSmallBody(bytes) && this.#small.free > 0 ? this.#small : null;
	}

	/** Whether anyone may find room. */
	#hasRoom(): boolean {
		if (this.#fast.isFull || this.#total >= this.#maxTotal) return false;
		return this.#shared.free > 0 || (this.#waitingSmall > 0 && this.#small.free > 0);
	}

	#mayTake({ projectId, bytes }: SharedWaiter): boolean {
		const { sends, bytes: held } = this.#holdings.get(projectId) ?? NOTHING;
		return fits(sends, this.#maxTotal - this.#total) && this.#sharedPot(held, bytes, sends) !== null;
	}

	/** Rounds over those that wait, each called once a round, as long as there is room and the last round used some. */
	#callWaiting(): void {
		if (this.#calling) return;
		this.#calling = true;
		try {
			this.#requested.callWaiting();
			let granted: number;
			do {
				granted = this.#granted;
				let left = this.#waiting.size;
				for (const [callback, waiting] of this.#waiting) {
					if (left-- === 0 || !this.#hasRoom()) break;
					if (!this.#mayTake(waiting)) continue;
					this.#stopWaiting(callback);
					callback();
				}
			} while (this.#granted > granted && this.#hasRoom());
		} finally {
			this.#calling = false;
			this.#watch();
		}
	}

	/** @param keepTurn the callback is about to be registered again, without losing its turn */
	#stopWaiting(callback: () => void, keepTurn = false): void {
		const waiting = this.#waiting.get(callback);
		if (waiting && isSmallBody(waiting.bytes)) this.#waitingSmall -= 1;
		if (!keepTurn) this.#waiting.delete(callback);
	}

	/** Nothing happens when a send stops being fast, so waiting for that needs a timer. One is enough for all. */
	#watch(): void {
		if (this.#timer !== null || this.#waiting.size === 0 || !this.#fast.isFull) return;
		const dueIn = this.#fast.nextInMs;
		if (dueIn === null) return;
		this.#timer = this.#clock.setTimeout(() => {
			this.#timer = null;
			this.#fast.removeOld();
			if (this.#hasRoom()) this.#callWaiting();
			else this.#watch();
		}, dueIn);
	}
}

/** Whether the bytes that are set aside for small bodies may be used for it. */
export const isSmallBody = (bytes: number): boolean => bytes <= SENDS.smallBodyBytes;

/** The dynamic threshold: a project may take more while it holds less than is free. */
function fits(held: number, free: number): boolean {
	return held < free;
}
