/** What Node calls certificates that no authority it knows has signed. */
const CODES: ReadonlySet<unknown> = new Set([
	"DEPTH_ZERO_SELF_SIGNED_CERT",
	"SELF_SIGNED_CERT_IN_CHAIN",
	"UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
	"UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

export const isUntrusted = (error: unknown): boolean => CODES.has((error as NodeJS.ErrnoException).code);

export const UNTRUSTED_ADVICE =
	"its certificate isn't from an authority that is trusted here; set NODE_EXTRA_CA_CERTS to a PEM file with the authority's certificate";
