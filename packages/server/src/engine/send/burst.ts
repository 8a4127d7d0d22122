import { SENDS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";

/** Where a request is written to. */
export interface BurstTarget {
	writeNow(request: Buffer): void;
}

/** What is started when the turn ends. */
export interface BurstStart {
	/** May write. */
	begin(): void;
}

/**
 * The attempts that were started in one turn of the event loop. They leave together when it ends: first all are made ready
 * and signed, then all are written. Nothing else runs between the two.
 *
 * Written one by one, amid the reading of answers, each would wake its receiver anew, and the waking costs more than the
 * writing where the processors are few (docs/decisions/0020-requests-leave-in-bursts.md).
 */
export class Burst {
	#starts: BurstStart[] = [];
	#prepared: { readonly to: BurstTarget; readonly request: Buffer }[] = [];
	#preparedBytes = 0;
	readonly #clock: Pick<Clock, "setImmediate">;
	readonly #onFault: (error: unknown) => void;
	#leaving = false;

	/** @param onFault told what a start or a write threw: neither should, and no other suffers from it */
	constructor(clock: Pick<Clock, "setImmediate">, onFault: (error: unknown) => void) {
		this.#clock = clock;
		this.#onFault = onFault;
	}

	/** Begins this when the turn ends. */
	add(start: BurstStart): void {
		if (this.#starts.push(start) === 1) this.#clock.setImmediate(this.#leave);
	}

	/** Writes a request at the end of the burst under way, or immediately where there is none. */
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
