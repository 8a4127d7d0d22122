/** Names kept in memory for each kind; the oldest is dropped beyond that and looked up again. */
export const MAX_NAMES = 20_000;

/** What numbers stand for, as far as it was looked up: within an epoch a number is never given to another name. */
export class NameCache {
	readonly projects = new BoundedMap<string, number>();
	/** The ids of the projects above. */
	readonly projectIds = new BoundedMap<number, string>();
	readonly webhooks = new BoundedMap<string, { readonly no: number; readonly projectNo: number }>();
	readonly types = new BoundedMap<string, number>();
}

/** A map that drops what was set longest ago once it is full. */
export class BoundedMap<K, V> extends Map<K, V> {
	override set(key: K, value: V): this {
		// A map keeps the order of insertion.
		if (!this.delete(key) && this.size >= MAX_NAMES) {
			const [oldest] = this.keys();
			if (oldest !== undefined) this.delete(oldest);
		}
		return super.set(key, value);
	}
}
