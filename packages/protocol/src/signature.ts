/**
 * How a request is signed, and why a hash of the secret is enough to do it.
 *
 * The signature is HMAC-SHA256 (RFC 2104, FIPS 198-1) over the timestamp, a dot and the exact body, keyed with the
 * webhook's signing secret. RFC 2104, section 2, first replaces any key longer than the hash's block, 64 bytes for
 * SHA-256, with the hash of that key. A secret has 70 bytes. So HMAC keyed with the 32 bytes of its SHA-256 is equal to
 * HMAC keyed with the whole secret: the service keeps and uses only the digest, and a receiver hands the whole secret
 * to any HMAC library.
 */
import { createHash, createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";

/** What every signing secret begins with. */
export const SECRET_PREFIX = "whsec_";

/** With the prefix more than SHA-256's block of 64 bytes, which the equality above needs. */
const SECRET_CHARACTERS = 64;
const DIGEST_BYTES = 32;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/** The largest multiple of the alphabet's length in a byte. Bytes from here on would favour its first letters. */
const FAIR_BYTES = 256 - (256 % ALPHABET.length);

/** A new signing secret: the prefix and 64 random letters and digits (381 bits). `random` answers with that many bytes. */
export function createSecret(random: (size: number) => Uint8Array = randomBytes): string {
	let characters = "";
	while (characters.length < SECRET_CHARACTERS) {
		for (const byte of random(SECRET_CHARACTERS - characters.length)) {
			if (byte < FAIR_BYTES) characters += ALPHABET[byte % ALPHABET.length];
		}
	}
	return SECRET_PREFIX + characters;
}

/** SHA-256 of the secret, 32 bytes: all that the service stores of it, and enough to sign. */
export function secretDigest(secret: string): Buffer {
	return createHash("sha256").update(secret).digest();
}

/** The key that signs, made of a secret's digest. Throws a RangeError unless the digest has 32 bytes. */
export function signingKey(digest: Uint8Array): KeyObject {
	if (digest.length !== DIGEST_BYTES) {
		throw new RangeError(`A signing key needs the secret's SHA-256, ${DIGEST_BYTES} bytes, and got ${digest.length}.`);
	}
	return createSecretKey(digest);
}

/**
 * The signature of a request, 64 lower-case hexadecimal digits. `timestamp` is Unix time in whole seconds, written as in
 * the timestamp header; `body` is the exact bytes sent.
 */
export function sign(key: KeyObject, timestamp: number | string, body: Uint8Array): string {
	return createHmac("sha256", key).update(`${timestamp}.`).update(body).digest("hex");
}
