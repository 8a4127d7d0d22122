import type { SettleResult } from "./settler.ts";

/** Outcomes of attempts that were made and are not committed: for the line in which a node that stops says so. */
export class Unsettled {
	#waiting = 0;
	#lost = 0;
	#stopping = false;

	/** Outcomes that wait for their commit; once the node stops, also those that it gave up. */
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
