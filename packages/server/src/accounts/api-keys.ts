import { API_KEYS } from "../base/budgets.ts";
import { type Clock, havePassed, type Moment, momentOf, type Timer } from "../base/clock.ts";
import { BoundedMap } from "../base/collections.ts";
import type { IdSource } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import type { Fault, Invalid } from "../base/text.ts";
import {
	type Actor,
	type ApiKey,
	type By,
	KEY_SCOPES,
	type KeyScope,
	type KeyStorage,
	type Page,
	type StillAllowed,
	type Storage,
} from "../storage/port.ts";
import type { OperatorKey } from "./operator-key.ts";
import { nameFaults } from "./people.ts";
import type { Principal } from "./sessions.ts";
import { type Ask, askImmediately, createKey, isKey, keyHash } from "./tokens.ts";

export const API_KEY_PREFIX = "phk_";
/** The part of a key that is stored and shown to tell keys apart; 48 bits of the 256. */
const SHOWN_CHARACTERS = 12;

export interface NewKey extends By {
	readonly projectId: string;
	readonly name: string;
	/** All of them by default. */
	readonly scopes?: readonly KeyScope[] | undefined;
	/** By default, the key doesn't expire. */
	readonly expiresAt?: number | null;
	readonly createdBy: Actor;
}

/** A key that was valid until `at`. */
interface ExpiredKey {
	readonly kind: "expired";
	readonly at: number;
}

interface ApiKeysOptions {
	readonly storage: KeyStorage & Pick<Storage, "peers">;
	readonly operatorKey: Pick<OperatorKey, "matches">;
	readonly clock: Clock;
	readonly ids: IdSource;
	readonly logger: Logger;
}

/** API keys of projects, and whom a key belongs to. Rejects only if storage fails. */
export class ApiKeys {
	readonly #options: ApiKeysOptions;
	readonly #cache: KeyCache;
	readonly #uses: LastUses;
	readonly #unsubscribe: readonly (() => void)[];

	constructor(options: ApiKeysOptions) {
		this.#options = options;
		this.#cache = new KeyCache(options.clock);
		this.#uses = new LastUses(options);
		const { peers } = options.storage;
		this.#unsubscribe = peers
			? [peers.subscribe((projectIds) => this.#cache.hint(projectIds)), peers.onEpoch(() => this.#cache.clear())]
			: [];
	}

	/** `key` is shown only now; only its hash is stored. `not_member`: `by` has lost the role. */
	async create({
		scopes = KEY_SCOPES,
		expiresAt = null,
		by = null,
		...rest
	}: NewKey): Promise<
		| Invalid
		| { readonly kind: "created"; readonly apiKey: ApiKey; readonly key: string }
		| { readonly kind: "not_member" }
	> {
		const { storage, ids, clock } = this.#options;
		const faults = [...nameFaults(rest), ...expiryFaults(expiresAt, clock.now())];
		if (faults.length > 0) return { kind: "invalid", faults };
		const key = createKey(API_KEY_PREFIX);
		const row = {
			id: ids.next("apiKey"),
			...rest,
			name: rest.name.trim(),
			prefix: key.slice(0, SHOWN_CHARACTERS),
			scopes: KEY_SCOPES.filter((scope) => scopes.includes(scope)),
			expiresAt,
			createdAt: clock.now(),
		};
		const kind = await storage.createApiKey({ ...row, hash: keyHash(key), by });
		if (kind === "not_member") return { kind };
		return { kind, apiKey: { ...row, lastUsedAt: null }, key };
	}

	async list(projectId: string, page: Page): Promise<ApiKey[]> {
		const keys = await this.#options.storage.listApiKeys({ projectId, ...page });
		return keys.map((key) => this.#withLastUse(key));
	}

	async get(projectId: string, keyId: string): Promise<ApiKey | null> {
		const key = await this.#options.storage.getApiKey({ projectId, keyId });
		return key && this.#withLastUse(key);
	}

	/**
	 * False if the project has no such key, or `by` has lost the right. A deleted key stops working here immediately, and
	 * on other nodes once they are notified, or within seconds.
	 */
	async delete(projectId: string, keyId: string, by: StillAllowed | null = null): Promise<boolean> {
		const deleted = await this.#options.storage.deleteApiKey({ projectId, keyId, by });
		if (deleted) this.#cache.drop(keyId);
		return deleted;
	}

	/**
	 * The principal that a key belongs to; null if it is unknown.
	 *
	 * @param ask queries storage, which is rarely needed; its errors are passed on
	 */
	async authenticate(key: Uint8Array, ask = askImmediately): Promise<Principal | ExpiredKey | null> {
		const hash = keyHash(key);
		if (await this.#options.operatorKey.matches(key, hash, ask)) return { kind: "operator" };
		if (!isKey(API_KEY_PREFIX, key)) return null;
		const found = await this.#find(hash, ask);
		if (!found) return null;
		const { id, projectId, name, scopes, expiresAt } = found;
		if (expiresAt !== null && this.#options.clock.now() >= expiresAt) return { kind: "expired", at: expiresAt };
		this.#uses.note(id);
		return { kind: "project", projectId, keyId: id, keyName: name, scopes, expiresAt };
	}

	close(): Promise<void> {
		for (const unsubscribe of this.#unsubscribe) unsubscribe();
		return this.#uses.close();
	}

	#withLastUse(key: ApiKey): ApiKey {
		return { ...key, lastUsedAt: this.#uses.of(key.id) ?? key.lastUsedAt };
	}

	async #find(hash: Buffer, ask: Ask): Promise<ApiKey | null> {
		const name = hash.toString("base64");
		const cached = this.#cache.get(name);
		if (cached) return cached;
		return ask(name, async () => {
			// Others that asked meanwhile may have found it.
			const foundByThen = this.#cache.get(name);
			if (foundByThen) return foundByThen;
			const lookup = this.#cache.begin();
			const found = await this.#options.storage.findApiKey({ hash });
			if (found) this.#cache.add(name, found, lookup);
			return found;
		});
	}
}

function expiryFaults(expiresAt: number | null, now: number): Fault[] {
	return expiresAt === null || expiresAt > now ? [] : [{ pointer: "/expires_at", detail: "must be in the future" }];
}

/** When a storage lookup began: its result may be older than a later deletion or hint. */
interface Lookup {
	readonly revision: number;
	readonly at: Moment;
}

/** Recently found API keys, by hash. Bounded: when full, the oldest is dropped. */
export class KeyCache {
	readonly #clock: Pick<Clock, "now" | "elapsed">;
	/** Each with the time at which its lookup began. */
	readonly #entries = new BoundedMap<string, { readonly key: ApiKey; readonly foundAt: Moment }>(API_KEYS.cached);
	/** When each project's last hint arrived, by the monotonic clock: the wall clock may be set back. */
	readonly #hintedAt = new BoundedMap<string, number>(API_KEYS.hintedProjects);
	/** Incremented with every deletion on this node. */
	#revision = 0;

	constructor(clock: Pick<Clock, "now" | "elapsed">) {
		this.#clock = clock;
	}

	/** Call before a lookup whose result is then added. */
	begin(): Lookup {
		return { revision: this.#revision, at: momentOf(this.#clock) };
	}

	get(hash: string): ApiKey | undefined {
		const entry = this.#entries.get(hash);
		if (!entry) return undefined;
		const { key, foundAt } = entry;
		const { trustedMs, trustedAfterHintMs } = API_KEYS;
		const ms = this.#isHintedSince(key.projectId, foundAt) ? trustedAfterHintMs : trustedMs;
		if (!havePassed(this.#clock, ms, foundAt)) return key;
		this.#entries.delete(hash);
		return undefined;
	}

	/** Caches the key, unless it may have been deleted since the lookup began. */
	add(hash: string, key: ApiKey, { revision, at }: Lookup): void {
		if (revision !== this.#revision || this.#isHintedSince(key.projectId, at)) return;
		this.#entries.set(hash, { key, foundAt: at });
	}

	drop(keyId: string): void {
		this.#revision++;
		for (const [hash, { key }] of this.#entries) if (key.id === keyId) this.#entries.delete(hash);
	}

	/** Drops all keys: each may have been deleted. */
	clear(): void {
		this.#revision++;
		this.#entries.clear();
	}

	/** Keys of these projects may have been deleted on other nodes. */
	hint(projectIds: readonly string[]): void {
		const at = this.#clock.elapsed();
		for (const projectId of projectIds) this.#hintedAt.set(projectId, at);
	}

	#isHintedSince(projectId: string, at: Moment): boolean {
		return (this.#hintedAt.get(projectId) ?? Number.NEGATIVE_INFINITY) >= at.elapsed;
	}
}

type LastUsesOptions = Pick<ApiKeysOptions, "clock" | "logger"> & {
	readonly storage: Pick<KeyStorage, "touchApiKeys">;
};

/** Records when keys were last used, and writes that occasionally: requests never wait for it. */
export class LastUses {
	readonly #options: LastUsesOptions;
	#waiting = new Map<string, number>();
	#timer: Timer | null = null;
	#writing: Promise<void> = Promise.resolve();
	#closed = false;

	constructor(options: LastUsesOptions) {
		this.#options = options;
	}

	note(keyId: string): void {
		const { clock } = this.#options;
		this.#waiting.set(keyId, clock.now());
		if (this.#waiting.size >= API_KEYS.lastUsesWaiting) this.#write();
		else if (!this.#closed) this.#timer ??= clock.setTimeout(() => this.#write(), API_KEYS.lastUseMs);
	}

	/** A recorded use that isn't written yet. */
	of(keyId: string): number | undefined {
		return this.#waiting.get(keyId);
	}

	async close(): Promise<void> {
		this.#closed = true;
		this.#write();
		await this.#writing;
	}

	#write(): void {
		this.#timer?.cancel();
		this.#timer = null;
		if (this.#waiting.size === 0) return;
		const uses = this.#waiting;
		this.#waiting = new Map();
		const { storage, logger } = this.#options;
		this.#writing = this.#writing.then(async () => {
			try {
				await storage.touchApiKeys({ uses });
			} catch (error) {
				logger.warn({ err: error, keys: uses.size }, "failed to store when API keys were last used");
			}
		});
	}
}
