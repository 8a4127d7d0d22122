import type { AttemptCounts, Stats, StatsQuery } from "../port.ts";
import { statusOf } from "./attempt-codes.ts";
import { ResponseTimes } from "./response-times.ts";

export const MINUTE = 60_000;
export const HOUR = 3_600_000;
/** How long attempts are counted by minute: two days, plus what the current hour adds. */
export const MINUTES_KEPT_MS = 49 * HOUR;
const MAX_BUCKETS = 400;

/** The unit of counts that a step consists of: whole hours or minutes, milliseconds. */
export const grainOf = ({ stepMs }: StatsQuery): number => (stepMs % HOUR === 0 ? HOUR : MINUTE);

/** Attempts with one status and response-time bucket. */
export type Count = { readonly status: number; readonly class: number; readonly n: number };

/** The buckets of a query, and what was counted into each. */
export class Buckets {
	readonly #query: StatsQuery;
	readonly #tallies: readonly Tally[];

	/** Throws a RangeError if there are no such buckets. */
	constructor(query: StatsQuery) {
		const { since, until, stepMs } = query;
		const count = (until - since) / stepMs;
		if (!Number.isInteger(count) || count < 0 || count > MAX_BUCKETS || since % stepMs !== 0 || stepMs % MINUTE !== 0)
			throw new RangeError(`From ${since} to ${until} by steps of ${stepMs} ms aren't buckets of the statistics.`);
		this.#query = query;
		this.#tallies = Array.from({ length: count }, () => new Tally());
	}

	/** When each begins, and when the last one ends. */
	get times(): number[] {
		const { since, until, stepMs } = this.#query;
		return [...this.#tallies.map((_, i) => since + i * stepMs), until];
	}

	/** @param at a time within the query's bounds */
	add(at: number, count: Count): void {
		const { since, stepMs } = this.#query;
		this.#tallies[Math.floor((at - since) / stepMs)]!.add(count);
	}

	/** @param seqs the first `seq` appended from each of {@link times}; null if events aren't counted */
	stats(seqs: readonly number[] | null): Stats {
		const events = (from: number, to: number) => (seqs === null ? 0 : seqs[to]! - seqs[from]!);
		const total = new Tally();
		for (const each of this.#tallies) total.addAll(each);
		const { times } = this;
		return {
			buckets: this.#tallies.map((each, i) => ({ at: times[i]!, events: events(i, i + 1), ...each.counts() })),
			total: { events: events(0, this.#tallies.length), ...total.counts() },
		};
	}
}

class Tally {
	readonly #ended = { delivered: 0, retrying: 0, failed: 0 };
	readonly #times = new ResponseTimes();

	add({ status, class: responseClass, n }: Count): void {
		this.#ended[statusOf(status)] += n;
		this.#times.add(responseClass, n);
	}

	addAll(other: Tally): void {
		this.#ended.delivered += other.#ended.delivered;
		this.#ended.retrying += other.#ended.retrying;
		this.#ended.failed += other.#ended.failed;
		this.#times.addAll(other.#times);
	}

	counts(): AttemptCounts {
		return { ...this.#ended, p50Ms: this.#times.percentile(0.5), p95Ms: this.#times.percentile(0.95) };
	}
}
