import type { SettleResult } from "./settler.ts";

/** Counts uncommitted outcomes of attempts, for the log line of a stopping node. */
export class Unsettled {
	#waiting = 0;
	#lost = 0;
	#stopping = false;

	/** Outcomes that wait for their commit; once the node stops, includes those that it gave up. */
	get count(): number {
		return this.#waiting + this.#lost;
	}

	begin(): void {
		this.#waiting += 1;
	}

	end(result: SettleResult): void {
		this.#waiting -= 1;
		if (this.#stopping && result !== "settled") this.#lost += 1;
	}

	stop(): void {
		this.#stopping = true;
	}
}
