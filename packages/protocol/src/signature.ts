/**
 * How a request is signed, and why hashes of the secret are enough for that.
 *
 * The signature is HMAC-SHA256 (RFC 2104, FIPS 198-1) over the timestamp, a dot and the exact body, keyed with the
 * webhook's signing secret. RFC 2104, section 2, first replaces any key longer than the hash's block, 64 bytes for
 * SHA-256, with the hash of that key. A secret has 94 bytes. So HMAC keyed with the 32 bytes of its SHA-256 equals HMAC
 * keyed with the whole secret: the service stores and uses only the digest, and a receiver passes the whole secret to
 * any HMAC library.
 *
 * Libraries of the Standard Webhooks specification decode the secret from base64 after its prefix instead, which gives
 * 66 bytes: longer than a block as well, so a second digest signs for them.
 */
import { hash, randomBytes } from "node:crypto";

/** The prefix of every signing secret. */
export const SECRET_PREFIX = "whsec_";

/** Longer than SHA-256's block of 64 bytes, as text and decoded, which the equality above needs. No padding in base64. */
const SECRET_BYTES = 66;
const DIGEST_BYTES = 32;
/** The block size of SHA-256, in bytes. */
const BLOCK_BYTES = 64;

/** A new signing secret: the prefix and 66 random bytes in base64. `random` returns the given number of bytes. */
export function createSecret(random: (size: number) => Uint8Array = randomBytes): string {
	return SECRET_PREFIX + Buffer.from(random(SECRET_BYTES)).toString("base64");
}

/** SHA-256 of the secret, 32 bytes: all that the service stores of it, and enough to sign. */
export function secretDigest(secret: string): Buffer {
	return hash("sha256", secret, "buffer");
}

/**
 * SHA-256 of the bytes that the secret encodes, 32 bytes: what signs for libraries of Standard Webhooks.
 *
 * @param secret from {@link createSecret}; older ones, of 70 characters, encode too few bytes
 */
export function standardDigest(secret: string): Buffer {
	return hash("sha256", Buffer.from(secret.slice(SECRET_PREFIX.length), "base64"), "buffer");
}

/** The key that signs, created from a secret's digest. Throws a RangeError unless the digest has 32 bytes. */
export function signingKey(digest: Uint8Array): SigningKey {
	return new SigningKey(digest);
}

/**
 * The signature of a request, 64 lower-case hexadecimal digits. `timestamp` is Unix time in whole seconds, written as in
 * the timestamp header; `body` is the exact bytes sent.
 */
export function sign(key: SigningKey, timestamp: number | string, body: Uint8Array): string {
	return key.sign(`${timestamp}.`, body);
}

/**
 * The signature of the Standard Webhooks specification, in base64 and without its version. `key` is of the
 * {@link standardDigest}; `id` is ASCII.
 */
export function signStandard(key: SigningKey, id: string, timestamp: number | string, body: Uint8Array): string {
	return key.sign(`${id}.${timestamp}.`, body, "base64");
}

const SCRATCH_BYTES = 65_536;
/** A buffer for assembling the signed text, if it fits. Created on demand, because the dashboard shares this package. */
let scratch: Buffer | undefined;

function roomFor(length: number): Buffer {
	if (length > SCRATCH_BYTES) return Buffer.allocUnsafe(length);
	scratch ??= Buffer.allocUnsafeSlow(SCRATCH_BYTES);
	return scratch.subarray(0, length);
}

/**
 * HMAC (RFC 2104, section 2) is H(outer pad, H(inner pad, text)), where both pads depend only on the key. They are
 * computed once, and each hash is a single call, because an Hmac object per signature costs more than the hashing.
 * Like a KeyObject, it stays out of logs, since nothing prints private fields.
 */
export class SigningKey {
	/** The inner pad. */
	readonly #inner: Buffer;
	/** The outer pad, and room for the inner hash. */
	readonly #outer: Buffer;

	constructor(digest: Uint8Array) {
		if (digest.length !== DIGEST_BYTES) {
			throw new RangeError(
				`A signing key needs the secret's SHA-256, ${DIGEST_BYTES} bytes, but got ${digest.length}.`,
			);
		}
		this.#inner = Buffer.alloc(BLOCK_BYTES, 0x36);
		this.#outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, 0x5c);
		for (const [i, byte] of digest.entries()) {
			this.#inner[i]! ^= byte;
			this.#outer[i]! ^= byte;
		}
	}

	/** HMAC-SHA256 of `head`, which is ASCII, and `body`. */
	sign(head: string, body: Uint8Array, encoding: "hex" | "base64" = "hex"): string {
		const text = roomFor(BLOCK_BYTES + head.length + body.length);
		text.set(this.#inner);
		text.write(head, BLOCK_BYTES, "latin1");
		text.set(body, BLOCK_BYTES + head.length);
		// As latin1, one byte per character: a Buffer for 32 bytes would cost as much as the hash.
		this.#outer.write(hash("sha256", text, "latin1"), BLOCK_BYTES, "latin1");
		return hash("sha256", this.#outer, encoding);
	}
}
