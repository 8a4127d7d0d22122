import type { Budget } from "../../base/budget.ts";
import { SENDS } from "../../base/budgets.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import { type FastSend, FastSends } from "./fast-sends.ts";
import { RequestedSlots } from "./requested-slots.ts";

/**
 * Admission of sends: how many may be in flight at once on this node, with how many bytes, and for which projects.
 *
 * It sets three limits, against three kinds of harm.
 *
 * - Work. Requests with quick responses keep the event loop busy, so only a limited number of sends are *fast*
 *   (fast-sends.ts), and each project leaves a quarter of them free: sends that started together stop being fast
 *   together, and other projects would wait for that. Beyond a certain age a send is waiting, costs almost nothing and
 *   frees its fast slot: a receiver that hangs doesn't delay the others.
 * - Sockets. At most `totalInFlight` sends are in flight in total.
 * - Memory. Their bodies take at most `bytesInFlight`, plus the body that reaches the limit. A slot taken before its
 *   body is known counts as the largest body until {@link Slot.holds} gives the real size. When these bytes are used
 *   up, a project that has nothing in flight may still send a small body: some bytes are reserved for those.
 *
 * A project with many hanging receivers must not exhaust sockets or memory, so it may hold at most as much of each as
 * is still free (the dynamic threshold of Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory
 * packet switches", 1998, with α = 1). One project then gets at most half, n greedy ones get 1/(n+1) each, and some is
 * always free for the next. A project that holds nothing gets a slot while any are free.
 *
 * A project that is refused registers a callback. When capacity is freed, the callbacks of projects that may hold more
 * are called in the order of registration, as long as there is capacity. Each takes one slot and, if it needs more,
 * registers again at the end of the queue: round robin over projects. A project over its share, or whose body doesn't
 * fit, keeps its turn until it can take one. A single free byte admits any body, so a large one waits no longer than a
 * small one.
 *
 * User requests (a test event, a single replay) are separate. They have their own slots and bytes, with a few slots for
 * each project, and their callbacks come first. They count as fast, but are never refused for it.
 */
export interface Slots {
	/** Takes a slot for one send of this project; null if none is available. @param bytes the body's size, if known */
	tryAcquire(projectId: string, bytes?: number): Slot | null;
	/** Takes a slot reserved for user requests; null if all of the project's, or all of the node's, are taken. */
	tryAcquireRequested(projectId: string, bytes?: number): Slot | null;
	/**
	 * Calls `callback` once when this project may take a slot. Registering again before that keeps its turn.
	 *
	 * @param bytes the size of the waiting body, if known; the smallest, if several wait
	 */
	onFree(projectId: string, callback: () => void, bytes?: number): void;
	/** Like {@link onFree}, for slots reserved for user requests. A project may register one callback at a time. */
	onRequestedFree(projectId: string, callback: () => void, bytes?: number): void;
	/** Unregisters a callback. */
	forget(projectId: string, callback: () => void): void;
	/** Number of sends in flight, including user requests, and how many of them are fast. */
	readonly inFlight: number;
	readonly fast: number;
	/** For metrics. */
	readonly budgets: readonly Pick<Budget, "name" | "limit" | "used" | "refusals">[];
}

export interface Slot {
	/** Sets the body's size. */
	holds(bytes: number): void;
	/** Sets the body's size if there is capacity for it. @returns whether there was */
	tryHold(bytes?: number): boolean;
	/** Frees the slot. May be repeated. */
	release(): void;
}

export interface SlotsOptions {
	readonly clock: Pick<Clock, "now" | "setTimeout">;
	readonly fastInFlight?: number;
	readonly fastForMs?: number;
	/** Excludes the reserved ones. */
	readonly totalInFlight?: number;
	readonly bytesInFlight?: number;
	/** The size that a body counts as until it is known. */
	readonly largestBody?: number;
	/** Slots reserved for user requests. */
	readonly requestedInFlight?: number;
	readonly requestedBytesInFlight?: number;
}

export function createSlots(options: SlotsOptions): Slots {
	return new SlotTable(options);
}

/** A budget for the bytes of bodies in flight. A single free byte admits any body. */
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
	/** Its project's holding of shared capacity; null for a user request. */
	readonly holding: Holding | null;
	readonly since: number;
	/** The budget that its bytes count towards. */
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

/** One project's holding of shared capacity. */
interface Holding {
	sends: number;
	/** How many of the sends are fast. */
	fast: number;
	bytes: number;
}

const NOTHING: Readonly<Holding> = { sends: 0, fast: 0, bytes: 0 };

/** Maximum number of entries kept for projects that hold nothing. */
const IDLE_HOLDINGS = 1_000;

/** A project that waits for a shared slot. */
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
	/**
	 * Excludes user requests. An entry is kept for a while after its project holds nothing: adding and deleting one for
	 * each send would cost more than the rest of a send's bookkeeping.
	 */
	readonly #holdings = new Map<string, Holding>();
	/** Number of entries that hold nothing. */
	#idleHoldings = 0;
	readonly #waiting = new Map<() => void, SharedWaiter>();
	/** Number of waiters with a small body. */
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
		let holding = this.#holdings.get(projectId);
		if (!this.#mayBegin(holding)) return null;
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
			holding = { sends: 0, fast: 0, bytes: 0 };
			this.#holdings.set(projectId, holding);
		} else if (holding.sends === 0) this.#idleHoldings -= 1;
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
			// Checked as if it held nothing yet.
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
			if (holding.sends === 0) this.#idle();
		} else this.#requested.give(projectId);
		this.#fast.remove(entry);
		this.#callWaiting();
	}

	/** A project has released everything it held. */
	#idle(): void {
		this.#idleHoldings += 1;
		if (this.#idleHoldings <= IDLE_HOLDINGS) return;
		for (const [projectId, { sends }] of this.#holdings) if (sends === 0) this.#holdings.delete(projectId);
		this.#idleHoldings = 0;
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
	 * The budget that has room for this body now; null if none has.
	 *
	 * @param held shared bytes that its project holds
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

	/** Whether the project may begin another fast send. */
	#mayBegin(holding: Readonly<Holding> = NOTHING): boolean {
		if (this.#fast.hasRoom(holding.fast)) return true;
		this.#fast.removeOld();
		return this.#fast.hasRoom(holding.fast);
	}

	/** Whether any waiter might be admitted. */
	#hasRoom(): boolean {
		if (this.#fast.isFull || this.#total >= this.#maxTotal) return false;
		return this.#shared.free > 0 || (this.#waitingSmall > 0 && this.#small.free > 0);
	}

	#mayTake({ projectId, bytes }: SharedWaiter): boolean {
		const holding = this.#holdings.get(projectId) ?? NOTHING;
		const { sends, bytes: held } = holding;
		return (
			this.#mayBegin(holding) &&
			fits(sends, this.#maxTotal - this.#total) &&
			this.#sharedPot(held, bytes, sends) !== null
		);
	}

	/** Calls the waiters in rounds, each once per round, as long as there is capacity and the last round used some. */
	#callWaiting(): void {
		if (this.#calling || (this.#waiting.size === 0 && !this.#requested.isWaited)) return;
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

	/** @param keepTurn whether the callback is about to be registered again, keeping its turn */
	#stopWaiting(callback: () => void, keepTurn = false): void {
		const waiting = this.#waiting.get(callback);
		if (waiting && isSmallBody(waiting.bytes)) this.#waitingSmall -= 1;
		if (!keepTurn) this.#waiting.delete(callback);
	}

	/** No event marks that a send stops being fast, so waiting for that needs a timer. One serves all waiters. */
	#watch(): void {
		if (this.#timer !== null || this.#waiting.size === 0) return;
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

/** Whether a body of this size may use the bytes reserved for small bodies. */
export const isSmallBody = (bytes: number): boolean => bytes <= SENDS.smallBodyBytes;

/** The dynamic threshold: a project may take more while it holds less than is free. */
function fits(held: number, free: number): boolean {
	return held < free;
}
