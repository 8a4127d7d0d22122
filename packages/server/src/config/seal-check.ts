import type { Seal } from "../base/seal.ts";

/** A value that only the right seal key opens; stored at the first start. */
export const SEAL_CHECK = "seal_check";

export const sealCheck = (seal: Seal): string => seal.seal(Buffer.from(SEAL_CHECK), SEAL_CHECK).toString("base64");

/**
 * Checks the seal key: with another one than the secrets were sealed with, no webhook's requests could be signed.
 *
 * @param sealed the stored check value
 * @throws Error with a message for users
 */
export function openSealCheck(seal: Seal, sealed: string): void {
	try {
		seal.open(Buffer.from(sealed, "base64"), SEAL_CHECK);
	} catch (cause) {
		throw new Error(
			"The seal key is not the one that this database was created with. Restore the right one (POSTHORN_SEAL_KEY, or " +
				"the key file next to the database): without it, no webhook's requests can be signed.",
			{ cause },
		);
	}
}
