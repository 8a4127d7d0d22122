import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const SEAL_KEY_BYTES = 32;

/**
 * Seals small secrets at rest with AES-256-GCM (NIST SP 800-38D) under the instance's seal key. A sealed value is
 * nonce, tag and ciphertext, bound to a context (such as the id of the row that holds it), so that it cannot be moved
 * to another row.
 */
export class Seal {
	readonly #key: Buffer;
	readonly #random: (bytes: number) => Buffer;

	/**
	 * Throws a RangeError unless `key` has 32 bytes.
	 *
	 * @param random generates nonces, which must never repeat under one key
	 */
	constructor(key: Uint8Array, random: (bytes: number) => Buffer = randomBytes) {
		if (key.length !== SEAL_KEY_BYTES)
			throw new RangeError(`A seal key has ${SEAL_KEY_BYTES} bytes, not ${key.length}.`);
		this.#key = Buffer.from(key);
		this.#random = random;
	}

	seal(plain: Uint8Array, context: string): Buffer {
		const nonce = this.#random(NONCE_BYTES);
		const cipher = createCipheriv("aes-256-gcm", this.#key, nonce).setAAD(Buffer.from(context));
		const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
		return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
	}

	/** Throws if the value was sealed for another context, or with another seal key. */
	open(sealed: Uint8Array, context: string): Buffer {
		const bytes = Buffer.from(sealed);
		const nonce = bytes.subarray(0, NONCE_BYTES);
		const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
		const decipher = createDecipheriv("aes-256-gcm", this.#key, nonce, { authTagLength: TAG_BYTES })
			.setAAD(Buffer.from(context))
			.setAuthTag(tag);
		return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
	}
}
