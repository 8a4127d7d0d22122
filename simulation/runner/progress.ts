import { CLEAR_LINE, redrawn } from "@posthorn/testkit/terminal";
import type { Totals } from "./run.ts";

/** Where there is no terminal, a line is printed this often, milliseconds. */
const LINE_MS = 10_000;

/** One line that says how far the run is: kept current on a terminal, printed again now and then elsewhere. */
export class Progress {
	readonly #begun = performance.now();
	readonly #hours: number | null;
	readonly #isLive = process.stdout.isTTY === true;
	readonly #timer: NodeJS.Timeout | null;
	#totals: Totals | null = null;

	/** @param hours the goal; null where one world is run */
	constructor(hours: number | null) {
		this.#hours = hours;
		this.#timer = this.#isLive ? null : setInterval(() => this.#print(), LINE_MS).unref();
	}

	show(totals: Totals): void {
		this.#totals = totals;
		if (this.#isLive) process.stdout.write(redrawn(this.#line(totals)));
	}

	end(totals: Totals): void {
		clearInterval(this.#timer ?? undefined);
		process.stdout.write(`${this.#isLive ? CLEAR_LINE : ""}${this.#line(totals)}\n`);
		const { longestWaitMs, longestDrainMs } = totals;
		process.stdout.write(
			`longest wait while nothing was wrong ${seconds(longestWaitMs)}, longest way to rest ${seconds(longestDrainMs)}\n`,
		);
	}

	#print(): void {
		const text = this.#totals ? this.#line(this.#totals) : `no world has ended yet  ·  ${this.#tookS().toFixed(0)} s`;
		process.stdout.write(`${text}\n`);
	}

	#tookS(): number {
		return (performance.now() - this.#begun) / 1_000;
	}

	#line({ hours, worlds, events, requests, failures }: Totals): string {
		const tookS = this.#tookS();
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
