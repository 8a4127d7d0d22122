import { type Compare, type Index, OrderedSet } from "./ordered.ts";

/** An {@link OrderedSet} per project, webhook or the like: every query is for one of them. */
export class PartitionedSet<Row extends Key, Key = Row> implements Index<Row> {
	readonly #partOf: (key: Key) => number;
	readonly #compare: Compare<Key>;
	readonly #holds: (row: Row) => boolean;
	readonly #parts = new Map<number, OrderedSet<Row, Key>>();

	/** @param compare within one part */
	constructor(partOf: (key: Key) => number, compare: Compare<Key>, holds: (row: Row) => boolean = () => true) {
		this.#partOf = partOf;
		this.#compare = compare;
		this.#holds = holds;
	}

	add(row: Row): void {
		if (!this.#holds(row)) return;
		const no = this.#partOf(row);
		let part = this.#parts.get(no);
		if (part === undefined) {
			part = new OrderedSet(this.#compare);
			this.#parts.set(no, part);
		}
		part.add(row);
	}

	remove(row: Row): void {
		if (!this.#holds(row)) return;
		const no = this.#partOf(row);
		const part = this.#parts.get(no);
		if (part === undefined) throw new Error("A row to remove is missing.");
		part.remove(row);
		if (part.size === 0) this.#parts.delete(no);
	}

	replace(former: Row, row: Row): void {
		if (this.#holds(former) && this.#holds(row) && this.#partOf(former) === this.#partOf(row))
			this.#parts.get(this.#partOf(row))!.replace(former, row);
		else {
			this.remove(former);
			this.add(row);
		}
	}

	get(key: Key): Row | undefined {
		return this.#parts.get(this.#partOf(key))?.get(key);
	}

	/** One part's rows from `from`, before `to`, ascending. */
	ascending(from: Key, to: Key): Iterator<Row, void, void> & Iterable<Row> {
		return this.#parts.get(this.#partOf(from))?.ascending(from, to) ?? [].values();
	}

	/** The same rows, descending. */
	descending(from: Key, to: Key): Iterator<Row, void, void> & Iterable<Row> {
		return this.#parts.get(this.#partOf(from))?.descending(from, to) ?? [].values();
	}

	first(from: Key, to: Key): Row | undefined {
		return this.#parts.get(this.#partOf(from))?.first(from, to);
	}

	last(from: Key, to: Key): Row | undefined {
		return this.#parts.get(this.#partOf(from))?.last(from, to);
	}
}
