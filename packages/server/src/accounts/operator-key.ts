import type { SettingStorage } from "../storage/port.ts";
import { createKey, keyHash } from "./api-keys.ts";

export const OPERATOR_KEY_PREFIX = "pho_";

/** The setting that stores the hash of a generated operator key, in hexadecimal. */
const SETTING = "operator_key_sha256";

/**
 * SHA-256 of the key of the person who runs the instance; null if there is none yet. A configured key is the only valid
 * one, and is not stored. Without one, it is the key that an earlier start or another node created.
 */
export async function findOperatorKey(storage: SettingStorage, configured: string | null): Promise<Buffer | null> {
	if (configured !== null) return keyHash(configured);
	const kept = await storage.getSetting({ name: SETTING });
	return kept === null ? null : Buffer.from(kept, "hex");
}

export interface NewOperatorKey {
	/** SHA-256 of the key. */
	readonly hash: Buffer;
	/** The key itself, shown only now; null if another node was faster and its key counts. */
	readonly key: string | null;
}

/** Creates the operator's key and stores only its hash. Call it when the key is certain to be shown. */
export async function createOperatorKey(storage: SettingStorage): Promise<NewOperatorKey> {
	const key = createKey(OPERATOR_KEY_PREFIX);
	const hash = keyHash(key).toString("hex");
	const standing = await storage.initSetting({ name: SETTING, value: hash });
	return { hash: Buffer.from(standing, "hex"), key: standing === hash ? key : null };
}
