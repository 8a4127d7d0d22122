/** An item that a {@link Bag} may hold. */
export interface Baggable {
	/** Its index in the {@link Bag}; -1 if it is in none. Only the bag sets it. */
	bagIndex: number;
}

/**
 * An unordered set for items that come and go thousands of times a second and reference much else, such as an event's
 * bytes.
 *
 * V8's Set and Map aren't suited to that: as they change they replace their table, and each old table points to its
 * successor. Once one table is in the old generation, every later one counts as reachable until the next full
 * collection, with everything that it held. Short-lived objects are then promoted, and full collections become
 * frequent.
 */
export class Bag<T extends Baggable> {
	readonly #items: T[] = [];

	get size(): number {
		return this.#items.length;
	}

	add(item: T): void {
		item.bagIndex = this.#items.push(item) - 1;
	}

	has(item: T): boolean {
		return this.#items[item.bagIndex] === item;
	}

	/** @returns whether it was present */
	delete(item: T): boolean {
		if (!this.has(item)) return false;
		const last = this.#items.pop()!;
		if (last !== item) {
			this.#items[item.bagIndex] = last;
			last.bagIndex = item.bagIndex;
		}
		item.bagIndex = -1;
		return true;
	}

	takeAll(): T[] {
		const all = this.#items.splice(0);
		for (const item of all) item.bagIndex = -1;
		return all;
	}

	toArray(): T[] {
		return [...this.#items];
	}
}

/** An item that a {@link LinkedList} may hold. Only the list sets these. */
export interface Linked<T> {
	previous: T | null;
	next: T | null;
}

/** Items in the order in which they were added. Removing any of them takes constant time, and nothing is allocated. */
export class LinkedList<T extends Linked<T>> {
	first: T | null = null;
	#last: T | null = null;

	add(item: T): void {
		item.previous = this.#last;
		if (this.#last === null) this.first = item;
		else this.#last.next = item;
		this.#last = item;
	}

	/** Has no effect on an item that isn't in a list. */
	remove(item: T): void {
		const { previous, next } = item;
		if (previous === null && this.first !== item) return;
		if (previous === null) this.first = next;
		else previous.next = next;
		if (next === null) this.#last = previous;
		else next.previous = previous;
		item.previous = null;
		item.next = null;
	}
}

/** The first index that `isBelow` doesn't hold for; `count` if there is none. It holds for all before that one. */
export function lowerBound(count: number, isBelow: (index: number) => boolean): number {
	let low = 0;
	let high = count;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (isBelow(middle)) low = middle + 1;
		else high = middle;
	}
	return low;
}

/** The items in lists of at most `size`, in order. */
export function* chunksOf<T>(items: readonly T[], size: number): Generator<T[], void> {
	for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

/** A map that drops the entry set longest ago once it is full. */
export class BoundedMap<K, V> extends Map<K, V> {
	readonly #capacity: number;

	constructor(capacity: number) {
		super();
		this.#capacity = capacity;
	}

	override set(key: K, value: V): this {
		// A map keeps the order of insertion.
		if (!this.delete(key) && this.size >= this.#capacity) {
			const [oldest] = this.keys();
			if (oldest !== undefined) this.delete(oldest);
		}
		return super.set(key, value);
	}
}

const PAGE = 200;

type ReadPage<Row> = (page: { readonly limit: number; readonly after: string | undefined }) => Promise<readonly Row[]>;

/** The pages of a list in the order of its rows' ids. The last one may be empty. */
export async function* pagesOf<Row extends { readonly id: string }>(
	read: ReadPage<Row>,
	limit = PAGE,
): AsyncGenerator<readonly Row[], void> {
	for (let after: string | undefined; ; ) {
		const rows = await read({ limit, after });
		yield rows;
		after = rows.at(-1)?.id;
		if (rows.length < limit) return;
	}
}

/** All rows of such a list. */
export async function* rowsOf<Row extends { readonly id: string }>(read: ReadPage<Row>): AsyncGenerator<Row, void> {
	for await (const rows of pagesOf(read)) yield* rows;
}
