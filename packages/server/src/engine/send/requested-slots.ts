import { Budget } from "../../base/budget.ts";
import { SENDS } from "../../base/budgets.ts";

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

/** A project that waits for a slot reserved for requests. */
export interface RequestedWaiter {
	readonly bytes: number;
	readonly callback: () => void;
}
