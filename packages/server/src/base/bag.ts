/** Something that a {@link Bag} may hold. */
export interface Baggable {
	/** Its place in the bag; -1 when it is in none. Only the bag sets it. */
	place: number;
}

/**
 * A set, in no order, of things that come and go thousands of times a second and hold on to much else, such as an event's
 * bytes.
 *
 * V8's Set and Map are not for those: as they change they move from table to table, and each left table points to the next
 * one. Once one of them is old, every later table counts as reachable until the next full collection, with all that was in
 * it. What should die young grows old, and full collections become frequent.
 */
export class Bag<T extends Baggable> {
	readonly #items: T[] = [];

	get size(): number {
		return this.#items.length;
	}

	add(item: T): void {
		item.place = this.#items.push(item) - 1;
	}

	has(item: T): boolean {
		return this.#items[item.place] === item;
	}

	/** @returns whether it was there */
	delete(item: T): boolean {
		if (!this.has(item)) return false;
		const last = this.#items.pop()!;
		if (last !== item) {
			this.#items[item.place] = last;
			last.place = item.place;
		}
		item.place = -1;
		return true;
	}

	/** Takes everything out. */
	takeAll(): T[] {
		const all = this.#items.splice(0);
		for (const item of all) item.place = -1;
		return all;
	}

	toArray(): T[] {
		return [...this.#items];
	}
}
