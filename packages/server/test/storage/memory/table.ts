/**
 * Tables of rows that are never changed, only replaced, and a journal of the replaced rows. Restoring former rows in
 * reverse order undoes a failed transaction or returns to a snapshot.
 */
import type { Index } from "./ordered.ts";

/** Rows by a hashed key. */
export class HashIndex<Row, Key> implements Index<Row> {
	readonly #rows = new Map<Key, Row>();
	readonly #keyOf: (row: Row) => Key;

	constructor(keyOf: (row: Row) => Key) {
		this.#keyOf = keyOf;
	}

	get(key: Key): Row | undefined {
		return this.#rows.get(key);
	}

	add(row: Row): void {
		const key = this.#keyOf(row);
		if (this.#rows.has(key)) throw new Error(`A row was added twice: ${key}.`);
		this.#rows.set(key, row);
	}

	remove(row: Row): void {
		this.#rows.delete(this.#keyOf(row));
	}

	replace(former: Row, row: Row): void {
		if (this.#keyOf(former) !== this.#keyOf(row)) this.remove(former);
		this.#rows.set(this.#keyOf(row), row);
	}
}

export class Table<Row, Key, Indexes extends Readonly<Record<string, Index<Row>>>> {
	readonly by: Indexes;
	readonly #journal: Journal;
	readonly #keyOf: (row: Row) => Key;
	readonly #rows = new Map<Key, Row>();
	readonly #indexes: readonly Index<Row>[];

	constructor(journal: Journal, keyOf: (row: Row) => Key, by: Indexes) {
		this.#journal = journal;
		this.#keyOf = keyOf;
		this.by = by;
		this.#indexes = Object.values(by);
	}

	get size(): number {
		return this.#rows.size;
	}

	get(key: Key): Row | undefined {
		return this.#rows.get(key);
	}

	/** In no particular order. */
	values(): IterableIterator<Row> {
		return this.#rows.values();
	}

	/** Adds a row, or replaces the one with the same key. */
	put(row: Row): void {
		const key = this.#keyOf(row);
		const former = this.#rows.get(key);
		this.#write(key, former, row);
		this.#journal.record(this, key, former);
	}

	/** False if there is no such row. */
	delete(key: Key): boolean {
		const former = this.#rows.get(key);
		if (former === undefined) return false;
		this.#write(key, former, undefined);
		this.#journal.record(this, key, former);
		return true;
	}

	/** Restores a row without recording that in the journal. */
	undo(key: Key, former: Row | undefined): void {
		this.#write(key, this.#rows.get(key), former);
	}

	#write(key: Key, former: Row | undefined, row: Row | undefined): void {
		if (row === undefined) this.#rows.delete(key);
		else this.#rows.set(key, row);
		for (const index of this.#indexes) {
			if (former === undefined) {
				if (row !== undefined) index.add(row);
			} else if (row === undefined) index.remove(former);
			else index.replace(former, row);
		}
	}
}

interface Undoable {
	undo(key: unknown, former: unknown): void;
}

/** The replaced rows, oldest first, as far back as the oldest snapshot that is held. */
export class Journal {
	/** Three elements per change: the table, the key, the former row. */
	#entries: unknown[] = [];
	/** How many of them are valid; the elements after them are left over. */
	#length = 0;
	/** How many were dropped at the beginning. */
	#dropped = 0;

	/** Its end: a position to return to. */
	get end(): number {
		return this.#dropped + this.#length;
	}

	record(table: object, key: unknown, former: unknown): void {
		this.#entries[this.#length++] = table;
		this.#entries[this.#length++] = key;
		this.#entries[this.#length++] = former;
	}

	/** Restores the state at that position. */
	undoTo(end: number): void {
		while (this.end > end) {
			const former = this.#entries[--this.#length];
			const key = this.#entries[--this.#length];
			(this.#entries[--this.#length] as Undoable).undo(key, former);
		}
	}

	/** Drops everything before this position, which is no longer needed. */
	dropBefore(position: number): void {
		const count = position - this.#dropped;
		this.#dropped = position;
		// Usually the entries of a single transaction: their memory is reused.
		if (count < this.#length || count > 100) this.#entries = this.#entries.slice(count, this.#length);
		this.#length -= count;
	}
}
