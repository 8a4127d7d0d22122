import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const SEAL_KEY_BYTES = 32;

/**
 * Seals small secrets at rest with AES-256-GCM (NIST SP 800-38D) under the instance's seal key. A sealed value is
 * nonce, tag and ciphertext, bound to a context (such as the id of the row that holds it), so that it cannot be moved
 * to another row. With several keys, the first seals, and all open.
 */
export class Seal {
	readonly #keys: readonly Buffer[];
	readonly #random: (bytes: number) => Buffer;

	/**
	 * Throws a RangeError unless there is a key, and each has 32 bytes.
	 *
	 * @param random generates nonces, which must never repeat under one key
	 */
	constructor(keys: readonly Uint8Array[], random: (bytes: number) => Buffer = randomBytes) {
		if (keys.length === 0) throw new RangeError("A seal needs a key.");
		for (const { length } of keys)
			if (length !== SEAL_KEY_BYTES) throw new RangeError(`A seal key has ${SEAL_KEY_BYTES} bytes, not ${length}.`);
		this.#keys = keys.map((key) => Buffer.from(key));
		this.#random = random;
	}

	seal(plain: Uint8Array, context: string): Buffer {
		const nonce = this.#random(NONCE_BYTES);
		const cipher = createCipheriv("aes-256-gcm", this.#keys[0]!, nonce).setAAD(Buffer.from(context));
		const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
		return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
	}

	/** Throws if the value was sealed for another context, or with another seal key. */
	open(sealed: Uint8Array, context: string): Buffer {
		return this.#open(sealed, context).plain;
	}

	/** The same value, sealed with the first key; null if it already is. Throws as `open` does. */
	reseal(sealed: Uint8Array, context: string): Buffer | null {
		const { plain, key } = this.#open(sealed, context);
		return key === this.#keys[0] ? null : this.seal(plain, context);
	}

	#open(sealed: Uint8Array, context: string): { readonly plain: Buffer; readonly key: Buffer } {
		let failure: unknown;
		for (const key of this.#keys)
			try {
				return { plain: openWith(key, sealed, context), key };
			} catch (error) {
				failure ??= error;
			}
		throw failure;
	}
}

function openWith(key: Buffer, sealed: Uint8Array, context: string): Buffer {
	const bytes = Buffer.from(sealed);
	const nonce = bytes.subarray(0, NONCE_BYTES);
	const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
	const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES })
		.setAAD(Buffer.from(context))
		.setAuthTag(tag);
	return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}

/** Ends each error that says that the seal key is missing, damaged or another one. */
export const IF_SEAL_KEY_LOST = "If the key is lost for good: posthorn seal-key --help";

/** A value that only the right seal key opens; stored at the first start. */
export const SEAL_CHECK = "seal_check";

export const sealCheck = (seal: Seal): string => seal.seal(Buffer.from(SEAL_CHECK), SEAL_CHECK).toString("base64");

/**
 * Checks the seal key: with another one than the secrets were sealed with, no webhook's requests could be signed.
 *
 * @param sealed the stored check value
 * @returns whether the first key sealed it
 * @throws Error with a message for users
 */
export function openSealCheck(seal: Seal, sealed: string): boolean {
	try {
		return seal.reseal(Buffer.from(sealed, "base64"), SEAL_CHECK) === null;
	} catch (cause) {
		throw new Error(
			"The seal key is not the one that this database's secrets are sealed with. Restore the right one (POSTHORN_SEAL_KEY, or " +
				"the key file next to the database): without it, no webhook's requests can be signed. If the key was replaced after " +
				`this backup was made, add the old key after the new one. ${IF_SEAL_KEY_LOST}`,
			{ cause },
		);
	}
}
