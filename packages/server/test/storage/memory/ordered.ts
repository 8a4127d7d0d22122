/** Less than 0 if `a` comes before `b`, 0 if they are at the same position. */
export type Compare<Key> = (a: Key, b: Key) => number;

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Rows in one chunk: few enough that moving half of them costs less than finding the chunk. */
const CHUNK = 256;

/** An index of a {@link Table}. */
export interface Index<Row> {
	add(row: Row): void;
	remove(row: Row): void;
	/** Both have the same primary key. */
	replace(former: Row, row: Row): void;
}

/**
 * Rows in the order of their keys, each key once, in a list of sorted chunks. Adding, removing and finding cost about
 * the logarithm of the size. A walk ends when the set changes: collect first, then change.
 */
export class OrderedSet<Row extends Key, Key = Row> implements Index<Row> {
	readonly #compare: Compare<Key>;
	readonly #holds: (row: Row) => boolean;
	/** None is empty. */
	readonly #chunks: Row[][] = [];
	#size = 0;

	/** @param holds which rows it holds; all of them by default */
	constructor(compare: Compare<Key>, holds: (row: Row) => boolean = () => true) {
		this.#compare = compare;
		this.#holds = holds;
	}

	get size(): number {
		return this.#size;
	}

	add(row: Row): void {
		if (!this.#holds(row)) return;
		this.#size += 1;
		const at = this.#chunkOf(row);
		const chunk = this.#chunks[at];
		if (chunk === undefined) {
			const last = this.#chunks.at(-1);
			if (last === undefined || last.length >= CHUNK) this.#chunks.push([row]);
			else last.push(row);
			return;
		}
		const index = this.#indexIn(chunk, row);
		if (this.#compare(chunk[index]!, row) === 0) throw new Error("A row was added twice.");
		chunk.splice(index, 0, row);
		if (chunk.length > CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(CHUNK / 2));
	}

	remove(row: Row): void {
		if (!this.#holds(row)) return;
		const at = this.#chunkOf(row);
		const chunk = this.#chunks[at];
		const index = chunk === undefined ? 0 : this.#indexIn(chunk, row);
		if (chunk === undefined || this.#compare(chunk[index]!, row) !== 0) throw new Error("A row to remove is missing.");
		this.#size -= 1;
		chunk.splice(index, 1);
		if (chunk.length === 0) this.#chunks.splice(at, 1);
	}

	replace(former: Row, row: Row): void {
		if (this.#holds(former) && this.#holds(row) && this.#compare(former, row) === 0) {
			const chunk = this.#chunks[this.#chunkOf(row)]!;
			chunk[this.#indexIn(chunk, row)] = row;
			return;
		}
		this.remove(former);
		this.add(row);
	}

	get(key: Key): Row | undefined {
		const chunk = this.#chunks[this.#chunkOf(key)];
		const row = chunk?.[this.#indexIn(chunk, key)];
		return row !== undefined && this.#compare(row, key) === 0 ? row : undefined;
	}

	/** The rows from `from`, before `to`, ascending. */
	*ascending(from: Key, to: Key): Generator<Row, void, void> {
		for (let at = this.#chunkOf(from); at < this.#chunks.length; at++) {
			const chunk = this.#chunks[at]!;
			for (let i = this.#indexIn(chunk, from); i < chunk.length; i++) {
				if (this.#compare(chunk[i]!, to) >= 0) return;
				yield chunk[i]!;
			}
		}
	}

	/** The same rows, descending. */
	*descending(from: Key, to: Key): Generator<Row, void, void> {
		for (let at = Math.min(this.#chunkOf(to), this.#chunks.length - 1); at >= 0; at--) {
			const chunk = this.#chunks[at]!;
			for (let i = this.#indexIn(chunk, to) - 1; i >= 0; i--) {
				if (this.#compare(chunk[i]!, from) < 0) return;
				yield chunk[i]!;
			}
		}
	}

	first(from: Key, to: Key): Row | undefined {
		const at = this.#chunkOf(from);
		const chunk = this.#chunks[at];
		const row = chunk?.[this.#indexIn(chunk, from)];
		return row !== undefined && this.#compare(row, to) < 0 ? row : undefined;
	}

	last(from: Key, to: Key): Row | undefined {
		let at = Math.min(this.#chunkOf(to), this.#chunks.length - 1);
		let chunk = this.#chunks[at];
		if (chunk === undefined) return undefined;
		let index = this.#indexIn(chunk, to);
		if (index === 0) {
			at -= 1;
			chunk = this.#chunks[at];
			index = chunk?.length ?? 0;
		}
		const row = chunk?.[index - 1];
		return row !== undefined && this.#compare(row, from) >= 0 ? row : undefined;
	}

	/** The first chunk whose last row isn't before `key`; the number of chunks if there is none. */
	#chunkOf(key: Key): number {
		let low = 0;
		let high = this.#chunks.length;
		if (high === 0) return 0;
		// Most are added at the end.
		const end = this.#chunks[high - 1]!;
		if (this.#compare(end[end.length - 1]!, key) < 0) return high;
		high -= 1;
		while (low < high) {
			const middle = (low + high) >>> 1;
			const chunk = this.#chunks[middle]!;
			if (this.#compare(chunk[chunk.length - 1]!, key) < 0) low = middle + 1;
			else high = middle;
		}
		return low;
	}

	/** The index of the first row that isn't before `key`. */
	#indexIn(chunk: readonly Row[], key: Key): number {
		let low = 0;
		let high = chunk.length;
		while (low < high) {
			const middle = (low + high) >>> 1;
			if (this.#compare(chunk[middle]!, key) < 0) low = middle + 1;
			else high = middle;
		}
		return low;
	}
}

/** Several walks as one, in order. */
export function* merged<Row>(walks: readonly Iterator<Row>[], compare: Compare<Row>): Generator<Row, void, void> {
	const heads = walks.map((walk) => ({ walk, step: walk.next() })).filter(({ step }) => !step.done);
	while (heads.length > 0) {
		let next = 0;
		for (let i = 1; i < heads.length; i++) {
			if (compare(heads[i]!.step.value as Row, heads[next]!.step.value as Row) < 0) next = i;
		}
		const head = heads[next]!;
		yield head.step.value as Row;
		head.step = head.walk.next();
		if (head.step.done) heads.splice(next, 1);
	}
}

/** The first rows of a walk. */
export function take<Row>(walk: Iterable<Row>, limit: number): Row[] {
	const rows: Row[] = [];
	if (limit <= 0) return rows;
	for (const row of walk) if (rows.push(row) >= limit) break;
	return rows;
}
