import { API_KEYS } from "../base/budgets.ts";
import type { Clock } from "../base/clock.ts";
import type { ApiKey } from "../storage/port.ts";

interface Entry {
	readonly key: ApiKey;
	readonly foundAt: number;
}

/** Where a lookup in storage began: its answer may be older than what was deleted or hinted at since. */
export interface Lookup {
	readonly revision: number;
	readonly at: number;
}

/** API keys found lately, by hash. Bounded: when full, the oldest goes. */
export class KeyCache {
	readonly #clock: Pick<Clock, "now">;
	readonly #entries = new Map<string, Entry>();
	/** When something of a project was last hinted at. */
	readonly #hintedAt = new Map<string, number>();
	/** Rises with every deletion here. */
	#revision = 0;

	constructor(clock: Pick<Clock, "now">) {
		this.#clock = clock;
	}

	/** To be called before a key is looked up that is added then. */
	begin(): Lookup {
		return { revision: this.#revision, at: this.#clock.now() };
	}

	get(hash: string): ApiKey | undefined {
		const entry = this.#entries.get(hash);
		if (!entry) return undefined;
		const { key, foundAt } = entry;
		const { trustedMs, trustedAfterHintMs } = API_KEYS;
		const ms = this.#isHintedSince(key.projectId, foundAt) ? trustedAfterHintMs : trustedMs;
		if (foundAt + ms > this.#clock.now()) return key;
		this.#entries.delete(hash);
		return undefined;
	}

	/** Keeps the key, unless it might have been deleted since it was looked up. */
	add(hash: string, key: ApiKey, { revision, at }: Lookup): void {
		if (revision !== this.#revision || this.#isHintedSince(key.projectId, at)) return;
		if (this.#entries.size >= API_KEYS.cached) deleteOldest(this.#entries);
		this.#entries.set(hash, { key, foundAt: at });
	}

	/** Forgets a key that was deleted. */
	drop(keyId: string): void {
		this.#revision++;
		for (const [hash, { key }] of this.#entries) if (key.id === keyId) this.#entries.delete(hash);
	}

	/** Forgets all keys: none may be there any more, or may be another project's. */
	clear(): void {
		this.#revision++;
		this.#entries.clear();
	}

	/** Keys of these projects may have been deleted elsewhere. */
	hint(projectIds: readonly string[]): void {
		const at = this.#clock.now();
		for (const projectId of projectIds) {
			this.#hintedAt.delete(projectId);
			this.#hintedAt.set(projectId, at);
			if (this.#hintedAt.size > API_KEYS.hintedProjects) deleteOldest(this.#hintedAt);
		}
	}

	#isHintedSince(projectId: string, at: number): boolean {
		return (this.#hintedAt.get(projectId) ?? Number.NEGATIVE_INFINITY) >= at;
	}
}

function deleteOldest(map: Map<string, unknown>): void {
	const [oldest] = map.keys();
	if (oldest !== undefined) map.delete(oldest);
}
