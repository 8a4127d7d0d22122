import { SENDS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";

/** A connection that requests are written to. */
export interface BurstTarget {
	writeNow(request: Buffer): void;
}

/** An attempt to start when the turn ends. */
export interface BurstStart {
	/** Starts the attempt; it may write. */
	begin(): void;
}

/**
 * The attempts started in one turn of the event loop. They are sent together when it ends: first all are prepared and
 * signed, then all are written. No other code runs between the two.
 *
 * If they were written one by one between reads of responses, each would wake its receiver separately, and waking costs
 * more than writing on machines with few processors (docs/decisions/0020-requests-leave-in-bursts.md).
 */
export class Burst {
	#starts: BurstStart[] = [];
	#prepared: { readonly to: BurstTarget; readonly request: Buffer }[] = [];
	#preparedBytes = 0;
	readonly #clock: Pick<Clock, "setImmediate">;
	readonly #onFault: (error: unknown) => void;
	#leaving = false;

	/**
	 * @param onFault receives anything that a start or a write throws. Neither should throw, and no other attempt is
	 *   affected
	 */
	constructor(clock: Pick<Clock, "setImmediate">, onFault: (error: unknown) => void) {
		this.#clock = clock;
		this.#onFault = onFault;
	}

	/** Starts this attempt when the turn ends. */
	add(start: BurstStart): void {
		if (this.#starts.push(start) === 1) this.#clock.setImmediate(this.#leave);
	}

	/** Writes a request at the end of the current burst, or immediately if there is none. */
	write(to: BurstTarget, request: Buffer): void {
		if (!this.#leaving) {
			to.writeNow(request);
			return;
		}
		this.#prepared.push({ to, request });
		this.#preparedBytes += request.length;
		if (this.#preparedBytes >= SENDS.preparedBytes) this.#writePrepared();
	}

	readonly #leave = (): void => {
		const starts = this.#starts;
		this.#starts = [];
		this.#leaving = true;
		for (const start of starts) {
			try {
				start.begin();
			} catch (error) {
				this.#onFault(error);
			}
		}
		this.#leaving = false;
		this.#writePrepared();
	};

	#writePrepared(): void {
		const prepared = this.#prepared;
		this.#prepared = [];
		this.#preparedBytes = 0;
		for (const { to, request } of prepared) {
			try {
				to.writeNow(request);
			} catch (error) {
				this.#onFault(error);
			}
		}
	}
}
