import { CLOSING_REASONS, isClosing } from "../port/delivery.ts";
import type { AttemptCounts, NewAttempt, Stats, StatsQuery } from "../port.ts";
import { statusOf } from "./deliveries.ts";

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
	readonly #count: number;
	/** By the bucket's number, without empty ones. */
	readonly #tallies = new Map<number, Tally>();

	/** Throws a RangeError if there are no such buckets. */
	constructor(query: StatsQuery) {
		const { since, until, stepMs } = query;
		const count = (until - since) / stepMs;
		if (!Number.isInteger(count) || count < 0 || count > MAX_BUCKETS || since % stepMs !== 0 || stepMs % MINUTE !== 0)
			throw new RangeError(`From ${since} to ${until} by steps of ${stepMs} ms aren't buckets of the statistics.`);
		this.#query = query;
		this.#count = count;
	}

	/** When each begins, and when the last one ends. */
	get times(): number[] {
		const { since, until, stepMs } = this.#query;
		return [...Array.from({ length: this.#count }, (_, i) => since + i * stepMs), until];
	}

	/** @param at a time within the query's bounds */
	add(at: number, count: Count): void {
		const { since, stepMs } = this.#query;
		const bucket = Math.floor((at - since) / stepMs);
		const tally = this.#tallies.get(bucket) ?? new Tally();
		tally.add(count);
		this.#tallies.set(bucket, tally);
	}

	/** @param seqs the first `seq` appended from each of {@link times}; null if events aren't counted */
	stats(seqs: readonly number[] | null): Stats {
		const events = (from: number, to: number) => (seqs === null ? 0 : seqs[to]! - seqs[from]!);
		const total = new Tally();
		for (const each of this.#tallies.values()) total.addAll(each);
		const counts = (bucket: number) => (this.#tallies.get(bucket) ?? EMPTY).counts();
		const begins = this.times.slice(0, -1);
		return {
			buckets: begins.map((at, i) => ({ at, events: events(i, i + 1), ...counts(i) })),
			total: { events: events(0, begins.length), ...total.counts() },
		};
	}
}

class Tally {
	readonly #ended = { delivered: 0, retrying: 0, failed: 0 };
	/** By response-time bucket, without empty ones. */
	readonly #times = new Map<number, number>();
	/** Of the attempts that were sent. */
	#total = 0;
	#closed = 0;

	add({ status, class: responseClass, n }: Count): void {
		this.#ended[statusOf(status)] += n;
		if (responseClass === CLOSED) this.#closed += n;
		this.#addTime(responseClass, n);
	}

	#addTime(responseClass: number, n: number): void {
		if (responseClass <= NOT_SENT) return;
		this.#times.set(responseClass, (this.#times.get(responseClass) ?? 0) + n);
		this.#total += n;
	}

	addAll(other: Tally): void {
		this.#ended.delivered += other.#ended.delivered;
		this.#ended.retrying += other.#ended.retrying;
		this.#ended.failed += other.#ended.failed;
		this.#closed += other.#closed;
		for (const [responseClass, n] of other.#times) this.#addTime(responseClass, n);
	}

	counts(): AttemptCounts {
		return { ...this.#ended, closed: this.#closed, p50Ms: this.#percentile(0.5), p95Ms: this.#percentile(0.95) };
	}

	/** The time within which this share of the attempts got a response (nearest rank), in milliseconds, or null. */
	#percentile(share: number): number | null {
		if (this.#total === 0) return null;
		let left = Math.ceil(this.#total * share);
		for (const responseClass of [...this.#times.keys()].sort((a, b) => a - b)) {
			left -= this.#times.get(responseClass)!;
			if (left <= 0) return middleOf(responseClass);
		}
		throw new Error("The percentile is beyond all attempts.");
	}
}

const EMPTY = new Tally();

/**
 * Response times are counted in buckets. Bucket 0 begins at 1 ms, bucket k at 2^(k/4) ms. Each begins 19% above the
 * previous one, so its middle is within a tenth of every time in it. This is the number of buckets per doubling.
 */
export const PER_OCTAVE = 4;

/** The bucket of attempts that weren't sent, which have no response time. */
export const NOT_SENT = -1;

/** The bucket of deliveries that were closed without a request. Versions before this one counted them as not sent. */
export const CLOSED = -2;

/** In SQL: whether a row of `attempts` is such a closing; null without an error code. */
export const IS_CLOSING = `error_code IN (${CLOSING_REASONS.map((reason) => `'${reason}'`).join(", ")})`;

/** The response-time bucket in which an attempt is counted. */
export function responseClass({ sent, responseMs, errorCode }: CountedAttempt): number {
	if (sent === null) return isClosing(errorCode) ? CLOSED : NOT_SENT;
	return Math.floor(PER_OCTAVE * Math.log2(Math.max(responseMs, 1)));
}

type CountedAttempt = Pick<NewAttempt, "sent" | "responseMs" | "errorCode">;

/** The minute of attempts that don't count, those of test events, where counts accumulate. */
export const NOT_COUNTED = 0;

/** The geometric middle of the whole milliseconds in a bucket, to a tenth of a millisecond. */
function middleOf(responseClass: number): number {
	const first = Math.ceil(2 ** (responseClass / PER_OCTAVE));
	const last = Math.ceil(2 ** ((responseClass + 1) / PER_OCTAVE)) - 1;
	return Math.round(Math.sqrt(first * last) * 10) / 10;
}
