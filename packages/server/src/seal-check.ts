import type { Seal } from "./base/seal.ts";

/** A value that only the right seal key opens; kept since the first start. */
export const SEAL_CHECK = "seal_check";

export const sealCheck = (seal: Seal): string => seal.seal(Buffer.from(SEAL_CHECK), SEAL_CHECK).toString("base64");

/**
 * With another seal key than the one the secrets were sealed with, no webhook could be signed for.
 *
 * @param sealed what the database keeps
 * @throws Error with a line for people
 */
export function openSealCheck(seal: Seal, sealed: string): void {
	try {
		seal.open(Buffer.from(sealed, "base64"), SEAL_CHECK);
	} catch (cause) {
		throw new Error(
			"The seal key is not the one that this database was made with. Put the right one back (POSTHORN_SEAL_KEY, or " +
				"the key file beside the database): without it no webhook can be signed for.",
			{ cause },
		);
	}
}
