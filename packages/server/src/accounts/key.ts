import { hash, randomBytes } from "node:crypto";

/** 256 bits, so that a plain hash is enough: such a key cannot be found by trying. */
const KEY_BYTES = 32;

/** A new key: the prefix and 43 random characters of base64url. */
export function createKey(prefix: string): string {
	return prefix + randomBytes(KEY_BYTES).toString("base64url");
}

/** SHA-256 of the key's bytes: all that is kept of it. */
export function keyHash(key: string | Uint8Array): Buffer {
	return hash("sha256", key, "buffer");
}
