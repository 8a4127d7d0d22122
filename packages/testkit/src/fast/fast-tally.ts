/** The largest event number for which duplicates are detected: 8 MiB per path. */
const MAX_N = 2 ** 26 - 1;

export interface PathReport {
	/** All requests. */
	readonly count: number;
	/** The number received last; -1 before the first. */
	readonly last: number;
	/** First arrivals of a number after a higher one had arrived. */
	readonly out_of_order: number;
	/** Numbers that had arrived before. */
	readonly duplicates: number;
	/** Different numbers. */
	readonly distinct: number;
}

/** What arrived on one path: how many, in which order, how often twice. */
export class PathTally {
	readonly path: string;
	count = 0;
	last = -1;
	outOfOrder = 0;
	duplicates = 0;
	#highest = -1;
	/** A bit for each number seen. */
	#seen = new Uint32Array(32);

	constructor(path: string) {
		this.path = path;
	}

	/** @throws RangeError for a number that is too large to detect duplicates */
	add(n: number): void {
		if (n > MAX_N) throw new RangeError(`Event number ${n} on ${this.path} is beyond ${MAX_N}.`);
		this.count++;
		this.last = n;
		const word = n >>> 5;
		const bit = 1 << (n & 31);
		if (word >= this.#seen.length) this.#grow(word + 1);
		const bits = this.#seen[word]!;
		if ((bits & bit) !== 0) this.duplicates++;
		else {
			this.#seen[word] = bits | bit;
			if (n < this.#highest) this.outOfOrder++;
			else this.#highest = n;
		}
	}

	read(): PathReport {
		const { count, last, outOfOrder, duplicates } = this;
		return { count, last, out_of_order: outOfOrder, duplicates, distinct: count - duplicates };
	}

	#grow(words: number): void {
		const grown = new Uint32Array(Math.max(words, this.#seen.length * 2));
		grown.set(this.#seen);
		this.#seen = grown;
	}
}

/** The newest numbers, up to a bound. */
export class Ring {
	readonly #values: Float64Array;
	#written = 0;

	constructor(capacity: number) {
		this.#values = new Float64Array(capacity);
	}

	push(value: number): void {
		this.#values[this.#written % this.#values.length] = value;
		this.#written++;
	}

	/** A copy, in no particular order once the ring has wrapped around. */
	read(): Float64Array {
		return this.#values.slice(0, Math.min(this.#written, this.#values.length));
	}

	clear(): void {
		this.#written = 0;
	}
}
