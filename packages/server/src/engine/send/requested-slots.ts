import { Budget } from "../../base/budget.ts";
import { SENDS } from "../../base/budgets.ts";

/**
 * The slots that are set aside for what people asked for, and the projects that wait for one. A project that holds all of
 * its own waits for one of those to end, outside the line; the others are called in the order in which they came.
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

	/** Calls those that wait, each once, as long as there is room. One whose body has none keeps its turn. */
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

/** A project that waits for a slot set aside for requests. */
export interface RequestedWaiter {
	readonly bytes: number;
	readonly callback: () => void;
}
