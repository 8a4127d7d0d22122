import type { FailureReason } from "./outcome.ts";
import type { Shortage } from "./shortages.ts";

/** A failure that this service itself found out, its reason known. */
export class SendFailure extends Error {
	readonly reason: FailureReason;

	constructor(reason: FailureReason, message: string, options?: ErrorOptions) {
		super(message, options);
		this.name = "SendFailure";
		this.reason = reason;
	}
}

/** A shortage of ours that this service itself found out. Where no send is concerned, it is a failure like others. */
export class ShortageFailure extends SendFailure {
	readonly shortage: Shortage;
	/** Whether it was met, rather than known from other sends. */
	readonly tried: boolean;

	constructor(shortage: Shortage, message: string, tried: boolean) {
		super(shortage === "name_servers" ? "dns_failed" : "sender_failed", message);
		this.name = "ShortageFailure";
		this.shortage = shortage;
		this.tried = tried;
	}
}

/** Error codes that say that this machine ran out of something. EADDRNOTAVAIL: see hasLocalAddressFor. */
const SHORTAGE_BY_CODE: ReadonlyMap<string, Shortage> = new Map<string, Shortage>([
	["EMFILE", "descriptors"],
	["ENFILE", "descriptors"],
	["ENOBUFS", "memory"],
	["ENOMEM", "memory"],
	["EADDRNOTAVAIL", "ports"],
]);

/**
 * Error codes of Node and of OpenSSL's certificate check (X509_V_ERR_… without its prefix). Codes that are not here and
 * match no family below are faults of ours until somebody has looked at them.
 */
const REASON_BY_CODE: ReadonlyMap<string, FailureReason> = new Map<string, FailureReason>([
	["ETIMEDOUT", "timeout"],

	["ECONNREFUSED", "connection_refused"],

	["ECONNRESET", "connection_reset"],
	["ECONNABORTED", "connection_reset"],
	["EPIPE", "connection_reset"],

	["EHOSTUNREACH", "host_unreachable"],
	["ENETUNREACH", "host_unreachable"],
	["EHOSTDOWN", "host_unreachable"],
	["ENETDOWN", "host_unreachable"],
	["EAFNOSUPPORT", "host_unreachable"],
	["EACCES", "host_unreachable"],
	["EPERM", "host_unreachable"],
	["EINVAL", "host_unreachable"],

	["CERT_HAS_EXPIRED", "tls_expired"],
	["CERT_NOT_YET_VALID", "tls_expired"],

	["ERR_TLS_CERT_ALTNAME_INVALID", "tls_wrong_host"],
	["HOSTNAME_MISMATCH", "tls_wrong_host"],

	["DEPTH_ZERO_SELF_SIGNED_CERT", "tls_untrusted"],
	["SELF_SIGNED_CERT_IN_CHAIN", "tls_untrusted"],
	["UNABLE_TO_GET_ISSUER_CERT", "tls_untrusted"],
	["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "tls_untrusted"],
	["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "tls_untrusted"],
	["UNABLE_TO_DECRYPT_CERT_SIGNATURE", "tls_untrusted"],
	["UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY", "tls_untrusted"],
	["CERT_SIGNATURE_FAILURE", "tls_untrusted"],
	["ERROR_IN_CERT_NOT_BEFORE_FIELD", "tls_untrusted"],
	["ERROR_IN_CERT_NOT_AFTER_FIELD", "tls_untrusted"],
	["CERT_CHAIN_TOO_LONG", "tls_untrusted"],
	["CERT_REVOKED", "tls_untrusted"],
	["INVALID_CA", "tls_untrusted"],
	["PATH_LENGTH_EXCEEDED", "tls_untrusted"],
	["INVALID_PURPOSE", "tls_untrusted"],
	["CERT_UNTRUSTED", "tls_untrusted"],
	["CERT_REJECTED", "tls_untrusted"],
	["UNSPECIFIED", "tls_untrusted"],

	["EPROTO", "tls_failed"],
]);

/** Families of codes, by how they begin: OpenSSL's errors of the handshake. */
const REASON_BY_PREFIX: readonly (readonly [string, FailureReason])[] = [
	["ERR_SSL_", "tls_failed"],
	["ERR_TLS_", "tls_failed"],
	["ERR_OSSL_", "tls_failed"],
];

/**
 * The shortage of ours that ended a send, or null. Where several addresses were tried, a fault of the receiver at any of
 * them counts: it would still be there without the shortage.
 */
export function shortageOf(error: unknown): Shortage | null {
	if (error instanceof ShortageFailure) return error.shortage;
	if (error instanceof AggregateError) {
		const shortages = error.errors.map(shortageOf);
		const isReceivers = error.errors.some((each, i) => shortages[i] === null && reasonOf(each) !== null);
		return isReceivers ? null : (shortages.find((shortage) => shortage !== null) ?? null);
	}
	return error instanceof Error ? (SHORTAGE_BY_CODE.get(codeOf(error)) ?? null) : null;
}

/** Why no answer came, from the error that ended the attempt; null for one that is not the receiver's doing or unknown. */
export function reasonOf(error: unknown): FailureReason | null {
	if (error instanceof SendFailure) return error.reason;
	if (error instanceof AggregateError) return reasonOfAll(error.errors);
	if (!(error instanceof Error)) return null;
	const code = codeOf(error);
	return REASON_BY_CODE.get(code) ?? REASON_BY_PREFIX.find(([prefix]) => code.startsWith(prefix))?.[1] ?? null;
}

/** Several addresses were tried: an address family that this machine cannot reach says less than a refusal by another. */
function reasonOfAll(all: readonly unknown[]): FailureReason | null {
	const reasons = all.map(reasonOf);
	return reasons.find((reason) => reason !== null && reason !== "host_unreachable") ?? reasons[0] ?? null;
}

/** Whether the connection was closed under the request, rather than answered wrongly. */
export function isConnectionClosed(error: unknown): boolean {
	return reasonOf(error) === "connection_reset";
}

export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

function codeOf(error: Error): string {
	return "code" in error && typeof error.code === "string" ? error.code : "";
}
