/** The key of the person who runs the instance: configured, or created by the service and stored as a hash. */
import { randomUUID, timingSafeEqual } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { API_KEYS } from "../base/budgets.ts";
import { type Clock, havePassed, type Moment, momentOf } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { SettingStorage, Storage } from "../storage/port.ts";
import { type Ask, askImmediately, createKey, isKey, keyHash } from "./tokens.ts";

export const OPERATOR_KEY_PREFIX = "pho_";

/** The setting that stores the hash of a generated operator key, in hexadecimal. */
const SETTING = "operator_key_sha256";

/**
 * SHA-256 of the key of the person who runs the instance; null if there is none yet. A configured key is the only valid
 * one, and is not stored. Without one, it is the key that an earlier start or another node created.
 */
export async function findOperatorKey(
	storage: Pick<SettingStorage, "getSetting">,
	configured: string | null,
): Promise<Buffer | null> {
	if (configured !== null) return keyHash(configured);
	const kept = await storage.getSetting({ name: SETTING });
	return kept === null ? null : Buffer.from(kept, "hex");
}

interface NewOperatorKey {
	/** SHA-256 of the key. */
	readonly hash: Buffer;
	/** The key itself, shown only now; null if another node was faster and its key counts. */
	readonly key: string | null;
}

/**
 * Creates the operator's key and stores only its hash. Call it when the key is certain to be shown.
 *
 * @param file where to leave the key, if it won't be shown: a file that only this user may read
 */
export async function createOperatorKey(storage: SettingStorage, file?: string): Promise<NewOperatorKey> {
	const key = createKey(OPERATOR_KEY_PREFIX);
	// Before its hash, or a crash in between would leave a hash whose key is unknown.
	if (file !== undefined)
		await writePrivately(file, key).catch((cause: NodeJS.ErrnoException) => {
			const why = `The operator's key cannot be written to ${file} (${cause.code}).`;
			throw new Error(`${why} Set POSTHORN_OPERATOR_KEY instead.`, { cause });
		});
	const hash = keyHash(key).toString("hex");
	const stored = await storage.initSetting({ name: SETTING, value: hash });
	return { hash: Buffer.from(stored, "hex"), key: stored === hash ? key : null };
}

/**
 * Creates a key that replaces the stored one. Nodes that share the database trust the previous key for up to
 * {@link API_KEYS.trustedMs}.
 */
export async function replaceOperatorKey(storage: Pick<SettingStorage, "setSetting">): Promise<string> {
	const key = createKey(OPERATOR_KEY_PREFIX);
	await storage.setSetting({ name: SETTING, value: keyHash(key).toString("hex") });
	return key;
}

interface SharedKey {
	readonly storage: Pick<Storage, "getSetting" | "peers">;
	readonly clock: Pick<Clock, "now" | "elapsed">;
	readonly logger: Logger;
}

export interface OperatorKeyOptions extends SharedKey {
	/** The key in the configuration, which is then the only valid one. */
	readonly configured: string | null;
}

/**
 * The operator's key as this node knows it. If other processes can change the stored key, it is read again when it was
 * last read {@link API_KEYS.trustedMs} ago.
 */
export class OperatorKey {
	/** Null if the key can't change while this process runs. */
	readonly #shared: SharedKey | null;
	#hash: Buffer | null;
	#readAt: Moment;
	#reading: Promise<void> | null = null;

	/** @param shared where the key is read again */
	constructor(hash: Buffer | null, shared: SharedKey | null = null) {
		this.#hash = hash;
		this.#shared = shared;
		this.#readAt = shared ? momentOf(shared.clock) : { now: 0, elapsed: 0 };
	}

	/** Rejects only if storage fails. */
	static async open({ configured, ...shared }: OperatorKeyOptions): Promise<OperatorKey> {
		const isShared = configured === null && shared.storage.peers !== null;
		return new OperatorKey(await findOperatorKey(shared.storage, configured), isShared ? shared : null);
	}

	get exists(): boolean {
		return this.#hash !== null;
	}

	/** Trusts the key that was just created. */
	set({ hash }: Pick<NewOperatorKey, "hash">): void {
		this.#hash = hash;
	}

	/**
	 * @param hash SHA-256 of the key
	 * @param ask queries storage, which is rarely needed; its errors are passed on
	 */
	async matches(key: Uint8Array, hash: Buffer, ask: Ask = askImmediately): Promise<boolean> {
		if (!this.#isStale() || !isKey(OPERATOR_KEY_PREFIX, key)) return this.#is(hash);
		const found = await ask(hash.toString("base64"), async () => {
			// Others that asked meanwhile may have read it.
			if (this.#isStale()) await this.#read();
			return this.#is(hash) || null;
		});
		return found !== null;
	}

	#is(hash: Buffer): boolean {
		return this.#hash !== null && timingSafeEqual(hash, this.#hash);
	}

	#isStale(): boolean {
		return this.#shared !== null && havePassed(this.#shared.clock, API_KEYS.trustedMs, this.#readAt);
	}

	#read(): Promise<void> {
		this.#reading ??= this.#readOnce().finally(() => {
			this.#reading = null;
		});
		return this.#reading;
	}

	async #readOnce(): Promise<void> {
		const { storage, clock, logger } = this.#shared!;
		const begun = momentOf(clock);
		const hash = await findOperatorKey(storage, null);
		if (hash !== null && !this.#is(hash)) logger.warn({}, "the operator's key was replaced");
		this.#hash = hash;
		this.#readAt = begun;
	}
}

/** Replaces a file by one that only this user may read. Rejects with the system's error. */
export async function writePrivately(file: string, line: string): Promise<void> {
	const draft = `${file}.${randomUUID()}.new`;
	try {
		await writeFile(draft, `${line}\n`, { mode: 0o600, flag: "wx", flush: true });
		await rename(draft, file);
	} catch (error) {
		await rm(draft, { force: true });
		throw error;
	}
}
