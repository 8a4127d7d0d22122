import type { Totals } from "./run.ts";

/** One line that says how far the run is, kept up to date on a terminal. */
export class Progress {
	readonly #begun = performance.now();
	readonly #hours: number | null;
	readonly #isLive = process.stdout.isTTY === true;

	/** @param hours how many are to be simulated; null where one world is run */
	constructor(hours: number | null) {
		this.#hours = hours;
	}

	show(totals: Totals): void {
		if (this.#isLive) process.stdout.write(`\r\x1b[K${this.#line(totals)}`);
	}

	end(totals: Totals): void {
		process.stdout.write(`${this.#isLive ? "\r\x1b[K" : ""}${this.#line(totals)}\n`);
		const { longestWaitMs, longestDrainMs } = totals;
		process.stdout.write(
			`longest wait while nothing was wrong ${seconds(longestWaitMs)}, longest way to rest ${seconds(longestDrainMs)}\n`,
		);
	}

	#line({ hours, worlds, events, requests, failures }: Totals): string {
		const tookS = (performance.now() - this.#begun) / 1_000;
		const of = this.#hours === null ? "" : ` of ${count(this.#hours)}`;
		return [
			`${count(hours)}${of} hours`,
			`${count(worlds)} worlds`,
			`${count(events)} events`,
			`${count(requests)} requests`,
			`${count(hours / tookS)} hours/s`,
			`${failures} failures`,
			`${tookS.toFixed(0)} s`,
		].join("  ·  ");
	}
}

function count(n: number): string {
	return Math.floor(n).toLocaleString("en-US");
}

function seconds(ms: number): string {
	return `${(ms / 1_000).toLocaleString("en-US", { maximumFractionDigits: 1 })} s`;
}
