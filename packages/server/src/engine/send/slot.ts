import { Budget } from "../../base/budget.ts";
import { SENDS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import { type Linked, LinkedList } from "../../base/collections.ts";
import type { Slots } from "./slots.ts";

/** A number of sends, or of bytes of their bodies. A single free byte admits any body. */
export class Capacity {
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

/** One project's holding of shared capacity. */
export interface Holding {
	sends: number;
	fast: number;
	bytes: number;
}

/** The right to make one send: a part of the node's capacity. */
export class Slot implements Linked<Slot> {
	readonly #slots: Slots;
	readonly projectId: string;
	/** Its project's holding of shared capacity; null for a user request. */
	readonly holding: Holding | null;
	/** Wall-clock time at which the send began. */
	readonly since: number;
	/** The budget that its bytes count towards. */
	budget: Capacity;
	bytes: number;
	/** Its neighbors among the fast ones. */
	previous: Slot | null = null;
	next: Slot | null = null;
	fast = false;
	held = true;

	constructor(slots: Slots, projectId: string, holding: Holding | null, budget: Capacity, since: number) {
		this.#slots = slots;
		this.projectId = projectId;
		this.holding = holding;
		this.budget = budget;
		this.bytes = 0;
		this.since = since;
	}

	/** Sets the body's size, even if there is no capacity for it. */
	holds(bytes: number): void {
		if (this.held && bytes !== this.bytes) this.#slots.resize(this, bytes);
	}

	/** Sets the body's size if there is capacity for it. @returns whether there was */
	tryHold(bytes?: number): boolean {
		return this.held && this.#slots.tryResize(this, bytes);
	}

	/** May be repeated. */
	release(): void {
		if (this.held) this.#slots.release(this);
	}
}

/**
 * Sends that keep the event loop busy. Beyond a few hundred they only queue up in it: measured on two cores, its p99
 * delay was 35 to 48 ms with {@link SENDS.fastInFlight}, and 90 ms without a limit. Older sends wait for the network or
 * the receiver.
 */
export class FastSends {
	readonly #clock: Pick<Clock, "now">;
	readonly #limit: number;
	readonly #forMs: number;
	readonly #slots = new LinkedList<Slot>();
	count = 0;

	constructor(clock: Pick<Clock, "now">, limit: number, forMs: number) {
		this.#clock = clock;
		this.#limit = limit;
		this.#forMs = forMs;
	}

	get isFull(): boolean {
		return this.count >= this.#limit;
	}

	/** Whether a project with this many fast sends may start another. Some are always left for other projects. */
	hasRoom(fast: number): boolean {
		return fast < SENDS.fastShare * (this.#limit - this.count);
	}

	/** How long until the oldest stops being fast, milliseconds; null if there is none. */
	get nextInMs(): number | null {
		const oldest = this.#slots.first;
		if (oldest === null) return null;
		const dueIn = oldest.since + this.#forMs - this.#clock.now();
		return Math.min(Math.max(dueIn, 1), this.#forMs);
	}

	add(slot: Slot): void {
		this.count += 1;
		if (slot.holding) slot.holding.fast += 1;
		slot.fast = true;
		this.#slots.add(slot);
	}

	remove(slot: Slot): void {
		if (!slot.fast) return;
		this.count -= 1;
		if (slot.holding) slot.holding.fast -= 1;
		slot.fast = false;
		this.#slots.remove(slot);
	}

	/** Removes sends that are no longer fast. */
	removeOld(): void {
		const now = this.#clock.now();
		// A start in the future means that the clock was set back: such a send would stay fast for too long.
		for (let oldest = this.#slots.first; oldest !== null; oldest = this.#slots.first) {
			if (Math.abs(now - oldest.since) < this.#forMs) return;
			this.remove(oldest);
		}
	}
}

/**
 * The slots reserved for user requests, and the projects that wait for one. A project that holds its maximum waits
 * outside the queue for one of its own to be released; the others are called in order of arrival.
 */
export class RequestedSlots {
	readonly budget: Budget;
	readonly #hasBytes: (bytes: number) => boolean;
	readonly #line = new Map<string, RequestedWaiter>();
	readonly #full = new Map<string, RequestedWaiter>();

	/** @param hasBytes whether a body of this size has room now */
	constructor(limit: number, hasBytes: (bytes: number) => boolean) {
		this.budget = new Budget({ name: "requested_sends", limit, perOwner: SENDS.requestedPerProject });
		this.#hasBytes = hasBytes;
	}

	/** Whether any project that could be called is waiting. */
	get isWaited(): boolean {
		return this.#line.size > 0;
	}

	take(projectId: string, bytes: number): boolean {
		return this.#hasBytes(bytes) && this.budget.take(projectId, 1) === null;
	}

	give(projectId: string): void {
		this.budget.give(projectId, 1);
		const waiting = this.#full.get(projectId);
		if (!waiting) return;
		this.#full.delete(projectId);
		this.#line.set(projectId, waiting);
	}

	wait(projectId: string, waiting: RequestedWaiter): void {
		const isFull = this.budget.heldBy(projectId) >= this.budget.perOwner;
		(isFull ? this.#full : this.#line).set(projectId, waiting);
	}

	forget(projectId: string, callback: () => void): void {
		for (const waiting of [this.#line, this.#full])
			if (waiting.get(projectId)?.callback === callback) waiting.delete(projectId);
	}

	/** Calls each waiter once, as long as there is capacity. One whose body doesn't fit keeps its turn. */
	callWaiting(): void {
		let left = this.#line.size;
		for (const [projectId, { bytes, callback }] of this.#line) {
			if (left-- === 0 || this.budget.used >= this.budget.limit) return;
			if (!this.#hasBytes(bytes)) continue;
			this.#line.delete(projectId);
			callback();
		}
	}
}

interface RequestedWaiter {
	readonly bytes: number;
	readonly callback: () => void;
}
