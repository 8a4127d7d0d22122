import type { RegistryStorage } from "../storage/port.ts";
import { createKey, keyHash } from "./key.ts";

export const OPERATOR_KEY_PREFIX = "pho_";

/** The setting that keeps the hash of an operator key that was made here, in hexadecimal. */
const SETTING = "operator_key_sha256";

export interface OperatorKey {
	/** SHA-256 of the key. */
	readonly hash: Buffer;
	/** The key itself, when it was made just now: to be shown this once. */
	readonly made: string | null;
}

/**
 * The key of the person who runs the instance. A configured key counts alone and is not stored. Without one, a key is
 * made at the first start and its hash kept, so that later starts and other nodes know it again.
 */
export async function resolveOperatorKey(
	storage: Pick<RegistryStorage, "getSetting" | "initSetting">,
	configured: string | null,
): Promise<OperatorKey> {
	if (configured !== null) return { hash: keyHash(configured), made: null };
	const kept = await storage.getSetting(SETTING);
	if (kept !== null) return { hash: Buffer.from(kept, "hex"), made: null };
	const key = createKey(OPERATOR_KEY_PREFIX);
	const hash = keyHash(key).toString("hex");
	// Another node may be starting for the first time, too: the hash that stands is the one that was there first.
	const standing = await storage.initSetting(SETTING, hash);
	return { hash: Buffer.from(standing, "hex"), made: standing === hash ? key : null };
}
