import { type Clock, havePassed, type Moment, momentOf, within } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { RepeatedFailure } from "../base/repeated-failure.ts";
import type { Gauges, Storage } from "../storage/port.ts";

/** Storage is queried at most this often, however many scrapers there are, milliseconds. */
const EVERY_MS = 1_000;
/** How long a scrape waits for the gauges, milliseconds. Prometheus gives up on all metrics after 10 seconds. */
const PATIENCE_MS = 4_000;
/** The maximum age of gauges while a newer read takes too long, as in a very large database, milliseconds. */
const STALE_MS = 60_000;

/** Reads storage's gauges for scrapes, one read at a time. A scrape waits only so long for one. */
export class GaugeReader {
	readonly #source: Pick<Storage, "gauges">;
	readonly #clock: Pick<Clock, "now" | "elapsed" | "setTimeout">;
	readonly #failure: RepeatedFailure;
	#reading: Promise<Gauges | "failed"> | null = null;
	/** The result of the last read that has ended, and when that read began. */
	#last: { readonly result: Gauges | "failed"; readonly at: Moment } | null = null;

	constructor(source: Pick<Storage, "gauges">, clock: Pick<Clock, "now" | "elapsed" | "setTimeout">, logger: Logger) {
		this.#source = source;
		this.#clock = clock;
		this.#failure = new RepeatedFailure(
			{ logger, clock },
			{ failed: "failed to read gauges from storage", over: "gauges are read from storage again", level: "warn" },
		);
	}

	/** The gauges, `failed` if storage failed, or `late` if it takes too long and the previous gauges are too old. */
	async read(): Promise<Gauges | "failed" | "late"> {
		const last = this.#last;
		if (this.#reading === null && last !== null && !havePassed(this.#clock, EVERY_MS, last.at)) return last.result;
		this.#reading ??= this.#begin().finally(() => {
			this.#reading = null;
		});
		const result = await within(this.#clock, PATIENCE_MS, this.#reading);
		if (result !== null) return result;
		const isGone = last === null || last.result === "failed" || havePassed(this.#clock, STALE_MS, last.at);
		return isGone ? "late" : last.result;
	}

	async #begin(): Promise<Gauges | "failed"> {
		const at = momentOf(this.#clock);
		let result: Gauges | "failed";
		try {
			result = await this.#source.gauges();
			this.#failure.succeeded();
		} catch (error) {
			this.#failure.failed(error);
			result = "failed";
		}
		this.#last = { result, at };
		return result;
	}
}
