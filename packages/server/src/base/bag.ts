/** Something that a {@link Bag} may hold. */
export interface Baggable {
	/** Its index in the bag; -1 if it is in none. Only the bag sets it. */
	place: number;
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
		item.place = this.#items.push(item) - 1;
	}

	has(item: T): boolean {
		return this.#items[item.place] === item;
	}

	/** @returns whether it was present */
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

	/** Removes and returns all items. */
	takeAll(): T[] {
		const all = this.#items.splice(0);
		for (const item of all) item.place = -1;
		return all;
	}

	toArray(): T[] {
		return [...this.#items];
	}
}
