import type { Seal } from "./seal.ts";

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
