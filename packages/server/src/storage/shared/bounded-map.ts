import { CACHED_NAMES } from "../../base/budgets.ts";

/** A map that drops what was set longest ago once it is full. */
export class BoundedMap<K, V> extends Map<K, V> {
	override set(key: K, value: V): this {
		// A map keeps the order of insertion.
		if (!this.delete(key) && this.size >= CACHED_NAMES) {
			const [oldest] = this.keys();
			if (oldest !== undefined) this.delete(oldest);
		}
		return super.set(key, value);
	}
}
