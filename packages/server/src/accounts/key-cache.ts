import type { Clock } from "../base/clock.ts";
import type { ApiKey } from "../storage/port.ts";

/** For this long a key found is trusted without asking storage: a key deleted on another node works no longer than this. */
const TTL_MS = 5_000;
const MAX_KEYS = 10_000;

/** API keys found lately, by hash. Bounded: when full, the oldest goes. */
export class KeyCache {
	readonly #clock: Pick<Clock, "now">;
	readonly #entries = new Map<string, { readonly key: ApiKey; readonly until: number }>();
	#revision = 0;

	constructor(clock: Pick<Clock, "now">) {
		this.#clock = clock;
	}

	/** Rises with every deletion. A key looked up before one and added after it might be the deleted one. */
	get revision(): number {
		return this.#revision;
	}

	get(hash: string): ApiKey | undefined {
		const entry = this.#entries.get(hash);
		if (!entry) return undefined;
		if (entry.until > this.#clock.now()) return entry.key;
		this.#entries.delete(hash);
		return undefined;
	}

	/** Keeps the key, unless keys were deleted since `revision`. */
	add(hash: string, key: ApiKey, revision: number): void {
		if (revision !== this.#revision) return;
		if (this.#entries.size >= MAX_KEYS) {
			const [oldest] = this.#entries.keys();
			if (oldest !== undefined) this.#entries.delete(oldest);
		}
		this.#entries.set(hash, { key, until: this.#clock.now() + TTL_MS });
	}

	/** Forgets a key that was deleted. */
	drop(keyId: string): void {
		this.#revision++;
		for (const [hash, { key }] of this.#entries) if (key.id === keyId) this.#entries.delete(hash);
	}
}
