import type { Budget } from "../../base/budget.ts";
import { SENDS } from "../../base/budgets.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import { Capacity, FastSends, type Holding, RequestedSlots, Slot } from "./slot.ts";

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

const NOTHING: Readonly<Holding> = { sends: 0, fast: 0, bytes: 0 };

/** Maximum number of entries kept for projects that hold nothing. */
const IDLE_HOLDINGS = 1_000;

interface SharedWaiter {
	readonly projectId: string;
	readonly bytes: number;
}

/**
 * Admission of sends: how many may be in flight at once on this node, with how many bytes, and for which projects.
 *
 * It sets three limits, against three kinds of harm.
 *
 * - Work. Requests with quick responses keep the event loop busy, so only a limited number of sends are *fast*
 *   ({@link FastSends}), and each project leaves a quarter of them free: sends that started together stop being fast
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
export class Slots {
	readonly #clock: SlotsOptions["clock"];
	readonly #fast: FastSends;
	/** Excludes user requests. */
	readonly #sends: Capacity;
	readonly #largestBody: number;
	readonly #shared: Capacity;
	readonly #small = new Capacity("small_sending_bytes", SENDS.smallBytesInFlight);
	readonly #requestedBytes: Capacity;
	readonly #requested: RequestedSlots;
	/**
	 * Excludes user requests. An entry is kept for a while after its project holds nothing: adding and deleting one for
	 * each send would cost more than the rest of a send's bookkeeping.
	 */
	readonly #holdings = new Map<string, Holding>();
	#idleHoldings = 0;
	readonly #waiting = new Map<() => void, SharedWaiter>();
	#waitingSmall = 0;
	#granted = 0;
	#timer: Timer | null = null;
	#calling = false;

	constructor({ clock, ...bounds }: SlotsOptions) {
		const limits = { ...SENDS, totalInFlight: SENDS.inFlight - SENDS.requestedInFlight, largestBody: 0, ...bounds };
		this.#clock = clock;
		this.#fast = new FastSends(clock, limits.fastInFlight, limits.fastForMs);
		this.#sends = new Capacity("sends", limits.totalInFlight);
		this.#largestBody = limits.largestBody;
		this.#shared = new Capacity("sending_bytes", limits.bytesInFlight);
		this.#requestedBytes = new Capacity("requested_sending_bytes", limits.requestedBytesInFlight);
		this.#requested = new RequestedSlots(limits.requestedInFlight, (bytes) => this.#requestedBudget(bytes) !== null);
	}

	/** Number of sends in flight, including user requests. */
	get inFlight(): number {
		return this.#sends.used + this.#requested.budget.used;
	}

	get fast(): number {
		return this.#fast.count;
	}

	get budgets(): readonly Pick<Budget, "name" | "limit" | "used" | "refusals">[] {
		return [this.#sends, this.#shared, this.#small, this.#requested.budget, this.#requestedBytes];
	}

	/** Takes a slot for one send of this project; null if none is available. @param bytes the body's size, if known */
	tryAcquire(projectId: string, bytes = this.#largestBody): Slot | null {
		let holding = this.#holdings.get(projectId);
		if (!this.#mayBegin(holding)) return null;
		const { sends, bytes: held } = holding ?? NOTHING;
		if (!fits(sends, this.#sends.free)) {
			this.#sends.refusals += 1;
			return null;
		}
		const budget = this.#sharedBudget(held, bytes, sends);
		if (budget === null) {
			this.#shared.refusals += 1;
			return null;
		}
		if (!holding) {
			holding = { sends: 0, fast: 0, bytes: 0 };
			this.#holdings.set(projectId, holding);
		} else if (holding.sends === 0) this.#idleHoldings -= 1;
		holding.sends += 1;
		this.#sends.used += 1;
		this.#granted += 1;
		return this.#begin(projectId, holding, budget, bytes);
	}

	/** Takes a slot reserved for user requests; null if all of the project's, or all of the node's, are taken. */
	tryAcquireRequested(projectId: string, bytes = this.#largestBody): Slot | null {
		if (!this.#requested.take(projectId, bytes)) return null;
		return this.#begin(projectId, null, this.#requestedBudget(bytes)!, bytes);
	}

	/**
	 * Calls `callback` once when this project may take a slot. Registering again before that keeps its turn.
	 *
	 * @param bytes the size of the smallest waiting body, if known
	 */
	onFree(projectId: string, callback: () => void, bytes = this.#largestBody): void {
		const waiting = { projectId, bytes };
		this.#countSmall(this.#waiting.get(callback), -1);
		this.#countSmall(waiting, 1);
		this.#waiting.set(callback, waiting);
		this.#watch();
	}

	/** Like {@link onFree}, for slots reserved for user requests. A project may register one callback at a time. */
	onRequestedFree(projectId: string, callback: () => void, bytes = this.#largestBody): void {
		this.#requested.wait(projectId, { callback, bytes });
	}

	forget(projectId: string, callback: () => void): void {
		this.#stopWaiting(callback);
		this.#requested.forget(projectId, callback);
	}

	resize(slot: Slot, bytes: number, budget = slot.budget): void {
		const less = slot.bytes - bytes;
		this.#count(slot, -slot.bytes);
		slot.budget = budget === this.#small && !isSmallBody(bytes) ? this.#shared : budget;
		slot.bytes = bytes;
		this.#count(slot, bytes);
		if (less > 0) this.#callWaiting();
	}

	tryResize(slot: Slot, bytes = this.#largestBody): boolean {
		const budget = bytes > slot.bytes ? this.#budgetToGrow(slot, bytes) : slot.budget;
		if (budget !== null) this.resize(slot, bytes, budget);
		return budget !== null;
	}

	/** The budget with room for a slot that grows to this size, as if it held nothing yet; null if none has. */
	#budgetToGrow(slot: Slot, bytes: number): Capacity | null {
		const { holding } = slot;
		this.#count(slot, -slot.bytes);
		const budget = holding ? this.#sharedBudget(holding.bytes, bytes, holding.sends - 1) : this.#requestedBudget(bytes);
		this.#count(slot, slot.bytes);
		return budget;
	}

	release(slot: Slot): void {
		slot.held = false;
		this.#count(slot, -slot.bytes);
		const { holding, projectId } = slot;
		if (holding) {
			this.#sends.used -= 1;
			holding.sends -= 1;
			if (holding.sends === 0) this.#idle();
		} else this.#requested.give(projectId);
		this.#fast.remove(slot);
		this.#callWaiting();
	}

	/** A project has released everything it held. */
	#idle(): void {
		this.#idleHoldings += 1;
		if (this.#idleHoldings <= IDLE_HOLDINGS) return;
		for (const [projectId, { sends }] of this.#holdings) if (sends === 0) this.#holdings.delete(projectId);
		this.#idleHoldings = 0;
	}

	#begin(projectId: string, holding: Holding | null, budget: Capacity, bytes: number): Slot {
		const slot = new Slot(this, projectId, holding, budget, this.#clock.now());
		slot.bytes = bytes;
		this.#count(slot, bytes);
		this.#fast.add(slot);
		return slot;
	}

	#count({ holding, budget }: Slot, bytes: number): void {
		budget.used += bytes;
		if (holding && budget === this.#shared) holding.bytes += bytes;
	}

	/** The budget with room for this body, given the shared bytes and sends that its project holds; null if none has. */
	#sharedBudget(held: number, bytes: number, sends: number): Capacity | null {
		if (fits(held, this.#shared.free)) return this.#shared;
		return sends === 0 && isSmallBody(bytes) && this.#small.free > 0 ? this.#small : null;
	}

	#requestedBudget(bytes: number): Capacity | null {
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
		if (this.#fast.isFull || this.#sends.free <= 0) return false;
		return this.#shared.free > 0 || (this.#waitingSmall > 0 && this.#small.free > 0);
	}

	#mayTake({ projectId, bytes }: SharedWaiter): boolean {
		const holding = this.#holdings.get(projectId) ?? NOTHING;
		const { sends, bytes: held } = holding;
		return this.#mayBegin(holding) && fits(sends, this.#sends.free) && this.#sharedBudget(held, bytes, sends) !== null;
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

	#stopWaiting(callback: () => void): void {
		this.#countSmall(this.#waiting.get(callback), -1);
		this.#waiting.delete(callback);
	}

	#countSmall(waiting: SharedWaiter | undefined, change: 1 | -1): void {
		if (waiting && isSmallBody(waiting.bytes)) this.#waitingSmall += change;
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
