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
