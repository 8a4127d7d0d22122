import { hash, randomBytes } from "node:crypto";

/** 256 bits, so that a plain hash is enough: such a key cannot be found by trying. */
const KEY_BYTES = 32;
const KEY_CHARACTERS = 43;
const RANDOM_CHARACTERS = /^[\w-]*$/;

/** A new key: the prefix and 43 random characters of base64url. */
export function createKey(prefix: string): string {
	return prefix + randomBytes(KEY_BYTES).toString("base64url");
}

/** Whether it could have been made by {@link createKey}: what could not is no one's, and needs no lookup. */
export function isKey(prefix: string, key: string | Uint8Array): boolean {
	if (key.length !== prefix.length + KEY_CHARACTERS) return false;
	const text = typeof key === "string" ? key : Buffer.from(key).toString("latin1");
	return text.startsWith(prefix) && RANDOM_CHARACTERS.test(text.slice(prefix.length));
}

/** SHA-256 of the key's bytes: all that is kept of it. */
export function keyHash(key: string | Uint8Array): Buffer {
	return hash("sha256", key, "buffer");
}
