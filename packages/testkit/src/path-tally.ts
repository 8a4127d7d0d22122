const NUMBER = Buffer.from('"data":{"n":');
const AT = Buffer.from(',"at":');
const ZERO = 48;
/** Latencies that are kept, the newest. */
const KEEP = 1 << 20;

/** What came on one path. */
export interface PathReport {
	/** Requests. */
	readonly count: number;
	/** Different numbers. */
	readonly distinct: number;
	/** First arrivals of a number lower than one that had come. */
	readonly out_of_order: number;
	readonly duplicates: number;
	readonly last: number;
}

interface Path {
	count: number;
	distinct: number;
	outOfOrder: number;
	duplicates: number;
	last: number;
	/** Numbers below `last` that have not come yet. */
	readonly missing: Set<number>;
}

/**
 * Counts numbered events by path. An event's data begins with its number, `{"n":12`, from 0 on for each path, and may
 * go on with the time at which it was published, `,"at":1763696856123.456` in milliseconds since the Unix epoch.
 */
export class PathTally {
	#paths = new Map<string, Path>();
	#latencies = new Float64Array(KEEP);
	#latencyCount = 0;
	count = 0;

	count1(name: string, bytes: Buffer, from: number, to: number): void {
		this.count += 1;
		let path = this.#paths.get(name);
		if (!path) {
			path = { count: 0, distinct: 0, outOfOrder: 0, duplicates: 0, last: -1, missing: new Set() };
			this.#paths.set(name, path);
		}
		path.count += 1;
		const found = bytes.indexOf(NUMBER, from);
		if (found < 0 || found > to) return;
		let n = 0;
		let at = found + NUMBER.length;
		for (; bytes[at]! >= ZERO && bytes[at]! <= ZERO + 9; at++) n = n * 10 + bytes[at]! - ZERO;
		this.#take(path, n);
		if (bytes.compare(AT, 0, AT.length, at, at + AT.length) !== 0) return;
		const text = bytes.toString("latin1", at + AT.length, at + AT.length + 20);
		const latency = performance.timeOrigin + performance.now() - Number.parseFloat(text);
		this.#latencies[this.#latencyCount++ % KEEP] = latency;
	}

	reports(): Record<string, PathReport> {
		const reports: Record<string, PathReport> = {};
		for (const [name, { count, distinct, outOfOrder, duplicates, last }] of this.#paths)
			reports[name] = { count, distinct, out_of_order: outOfOrder, duplicates, last };
		return reports;
	}

	latencies(): number[] {
		return [...this.#latencies.subarray(0, Math.min(this.#latencyCount, KEEP))];
	}

	reset(): void {
		this.#paths = new Map();
		this.#latencyCount = 0;
		this.count = 0;
	}

	/** Where the first number of a path is not 0 (after a reset), nothing before it is missing. */
	#take(path: Path, n: number): void {
		if (path.last < 0 || n > path.last) {
			if (path.last >= 0) for (let lost = path.last + 1; lost < n; lost++) path.missing.add(lost);
			path.last = n;
			path.distinct += 1;
		} else if (path.missing.delete(n)) {
			path.distinct += 1;
			path.outOfOrder += 1;
		} else {
			path.duplicates += 1;
		}
	}
}
