import { createHash } from "node:crypto";

/**
 * Stands for a customer: SHA-256 of the address, so that none is kept for longer than its events. Addresses are the same
 * customer's when they are equal without surrounding space, in compatibility form (NFKC) and in lower case.
 */
export function customerKey(email: string): Buffer {
	const normal = email.normalize("NFKC").toLowerCase().normalize("NFKC").trim();
	return createHash("sha256").update(normal).digest();
}
