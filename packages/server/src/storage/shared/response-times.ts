/**
 * Response times are counted in buckets. Bucket 0 begins at 1 ms, bucket k at 2^(k/4) ms. Each begins 19% above the
 * previous one, so its middle is within a tenth of every time in it.
 */
/** Response-time buckets per doubling. */
export const PER_OCTAVE = 4;

/** The bucket of attempts that weren't sent, which have no response time. */
export const NOT_SENT = -1;

/** Attempts counted by bucket. */
export class ResponseTimes {
	/** By bucket, without empty ones. */
	readonly #counts = new Map<number, number>();
	#total = 0;

	add(responseClass: number, count: number): void {
		if (responseClass === NOT_SENT) return;
		this.#counts.set(responseClass, (this.#counts.get(responseClass) ?? 0) + count);
		this.#total += count;
	}

	addAll(other: ResponseTimes): void {
		for (const [responseClass, count] of other.#counts) this.add(responseClass, count);
	}

	/** The time within which this share of the attempts got a response (nearest rank), in milliseconds, or null. */
	percentile(share: number): number | null {
		if (this.#total === 0) return null;
		let left = Math.ceil(this.#total * share);
		for (const responseClass of [...this.#counts.keys()].sort((a, b) => a - b)) {
			left -= this.#counts.get(responseClass)!;
			if (left <= 0) return middleOf(responseClass);
		}
		throw new Error("The percentile is beyond all attempts.");
	}
}

/** The geometric middle of the whole milliseconds in a bucket, to a tenth of a millisecond. */
function middleOf(responseClass: number): number {
	const first = Math.ceil(2 ** (responseClass / PER_OCTAVE));
	const last = Math.ceil(2 ** ((responseClass + 1) / PER_OCTAVE)) - 1;
	return Math.round(Math.sqrt(first * last) * 10) / 10;
}
