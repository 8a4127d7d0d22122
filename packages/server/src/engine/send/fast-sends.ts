import { SENDS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";

/** A send in flight. The fast ones form a list, the oldest first. */
export interface FastSend {
	/** Wall-clock time at which it began. */
	readonly since: number;
	/** How many fast sends its project has; null for sends that don't count towards their projects. */
	readonly holding: { fast: number } | null;
	fast: boolean;
	older: FastSend | null;
	newer: FastSend | null;
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
	#oldest: FastSend | null = null;
	#newest: FastSend | null = null;
	#count = 0;

	constructor(clock: Pick<Clock, "now">, limit: number = SENDS.fastInFlight, forMs: number = SENDS.fastForMs) {
		this.#clock = clock;
		this.#limit = limit;
		this.#forMs = forMs;
	}

	get count(): number {
		return this.#count;
	}

	get isFull(): boolean {
		return this.#count >= this.#limit;
	}

	/** Whether a project with this many fast sends may start another. Some are always left for other projects. */
	hasRoom(fast: number): boolean {
		return fast < SENDS.fastShare * (this.#limit - this.#count);
	}

	/** How long until the oldest stops being fast, milliseconds; null if there is none. */
	get nextInMs(): number | null {
		if (this.#oldest === null) return null;
		const dueIn = this.#oldest.since + this.#forMs - this.#clock.now();
		return Math.min(Math.max(dueIn, 1), this.#forMs);
	}

	add(send: FastSend): void {
		this.#count += 1;
		if (send.holding) send.holding.fast += 1;
		send.fast = true;
		send.older = this.#newest;
		if (this.#newest === null) this.#oldest = send;
		else this.#newest.newer = send;
		this.#newest = send;
	}

	remove(send: FastSend): void {
		if (!send.fast) return;
		this.#count -= 1;
		if (send.holding) send.holding.fast -= 1;
		send.fast = false;
		if (send.older === null) this.#oldest = send.newer;
		else send.older.newer = send.newer;
		if (send.newer === null) this.#newest = send.older;
		else send.newer.older = send.older;
		send.older = null;
		send.newer = null;
	}

	/** Removes sends that are no longer fast. */
	removeOld(): void {
		const now = this.#clock.now();
		// A start in the future means that the clock was set back: such a send would stay fast for too long.
		while (this.#oldest !== null && Math.abs(now - this.#oldest.since) >= this.#forMs) this.remove(this.#oldest);
	}
}
