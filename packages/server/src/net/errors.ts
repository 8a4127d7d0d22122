import type { Shortage } from "./shortages.ts";

/** Why there was no response: stable codes, whose texts are in engine/send/outcome.ts. */
export type FailureReason =
	| "timeout"
	| "dns_not_found"
	| "dns_failed"
	| "address_not_public"
	| "address_not_allowed"
	| "port_not_allowed"
	| "connection_refused"
	| "connection_reset"
	| "host_unreachable"
	| "tls_untrusted"
	| "tls_expired"
	| "tls_wrong_host"
	| "tls_costly"
	| "tls_failed"
	| "malformed_response"
	| "sender_failed";

/** What name servers answered, or that they didn't: stable codes. */
export const DNS_ANSWERS = [
	/** The name doesn't exist (NXDOMAIN). */
	"nxdomain",
	/** The name exists, but has no address: no A or AAAA record. */
	"no_address",
	/** It can't be a name. */
	"invalid_name",
	/** The name servers of its domain failed (SERVFAIL). */
	"servfail",
	/** The name servers refuse to answer (REFUSED). */
	"refused",
	/** No answer came in time. */
	"timeout",
	/** The answer was malformed, or resolving failed in another way. */
	"unusable",
	/** None of its addresses is public. */
	"only_private",
	/** None of its addresses is allowed; at least one is public, but denied by the operator. */
	"only_denied",
] as const;
export type DnsAnswer = (typeof DNS_ANSWERS)[number];

/** A certificate that was rejected. Its text is the receiver's, but visible and bounded. */
export interface RejectedCertificate {
	readonly subject: string;
	readonly issuer: string;
	/** The host names and addresses that it is for: the first ones. */
	readonly names: readonly string[];
	/** Milliseconds since the Unix epoch; null if it can't be read. */
	readonly validFrom: number | null;
	readonly validTo: number | null;
}

export interface FailureDetails {
	readonly dns?: DnsAnswer;
	readonly certificate?: RejectedCertificate;
}

/** A failure that this service detected itself, with its reason. */
export class SendFailure extends Error {
	readonly reason: FailureReason;
	readonly details: FailureDetails | null;

	constructor(reason: FailureReason, message: string, options?: ErrorOptions & { readonly details?: FailureDetails }) {
		super(message, options);
		this.name = "SendFailure";
		this.reason = reason;
		this.details = options?.details ?? null;
	}
}

export function detailsOf(error: unknown): FailureDetails | null {
	if (error instanceof AggregateError) return error.errors.map(detailsOf).find((details) => details !== null) ?? null;
	return error instanceof SendFailure ? error.details : null;
}

/** A local shortage that this service detected itself. Outside of a send it is a failure like any other. */
export class ShortageFailure extends SendFailure {
	readonly shortage: Shortage;
	/** Whether this send met the shortage itself, rather than being blocked because of others. */
	readonly tried: boolean;

	constructor(shortage: Shortage, message: string, tried: boolean) {
		super(shortage === "name_servers" ? "dns_failed" : "sender_failed", message);
		this.name = "ShortageFailure";
		this.shortage = shortage;
		this.tried = tried;
	}
}

/** Error codes that mean this machine ran out of something. For EADDRNOTAVAIL, see hasLocalAddressFor. */
const SHORTAGE_BY_CODE: ReadonlyMap<string, Shortage> = new Map<string, Shortage>([
	["EMFILE", "descriptors"],
	["ENFILE", "descriptors"],
	["ENOBUFS", "memory"],
	["ENOMEM", "memory"],
	["EADDRNOTAVAIL", "ports"],
]);

/**
 * Error codes of Node and of OpenSSL's certificate checks (X509_V_ERR_… without its prefix). Codes that are missing
 * here and match no prefix below count as our own faults until someone has examined them.
 */
const CODES: Partial<Record<FailureReason, readonly string[]>> = {
	timeout: ["ETIMEDOUT"],
	connection_refused: ["ECONNREFUSED"],
	connection_reset: ["ECONNRESET", "ECONNABORTED", "EPIPE"],
	host_unreachable: [
		"EHOSTUNREACH",
		"ENETUNREACH",
		"EHOSTDOWN",
		"ENETDOWN",
		"EAFNOSUPPORT",
		"EACCES",
		"EPERM",
		"EINVAL",
	],
	tls_expired: ["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"],
	tls_wrong_host: ["ERR_TLS_CERT_ALTNAME_INVALID", "HOSTNAME_MISMATCH"],
	tls_untrusted: [
		"DEPTH_ZERO_SELF_SIGNED_CERT",
		"SELF_SIGNED_CERT_IN_CHAIN",
		"UNABLE_TO_GET_ISSUER_CERT",
		"UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
		"UNABLE_TO_VERIFY_LEAF_SIGNATURE",
		"UNABLE_TO_DECRYPT_CERT_SIGNATURE",
		"UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY",
		"CERT_SIGNATURE_FAILURE",
		"ERROR_IN_CERT_NOT_BEFORE_FIELD",
		"ERROR_IN_CERT_NOT_AFTER_FIELD",
		"CERT_CHAIN_TOO_LONG",
		"CERT_REVOKED",
		"INVALID_CA",
		"PATH_LENGTH_EXCEEDED",
		"INVALID_PURPOSE",
		"CERT_UNTRUSTED",
		"CERT_REJECTED",
		"UNSPECIFIED",
	],
	tls_failed: ["EPROTO"],
};
const REASON_BY_CODE = new Map(
	Object.entries(CODES).flatMap(([reason, codes]) => codes.map((code) => [code, reason as FailureReason])),
);

/** OpenSSL's handshake errors. */
const HANDSHAKE_CODE = /^ERR_(SSL|TLS|OSSL)_/;

/**
 * The local shortage that ended a send, or null. If several addresses were tried, a fault of the receiver at any of
 * them takes precedence: it would remain without the shortage.
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

/** Why there was no response; null if the receiver isn't to blame or the error is unknown. */
export function reasonOf(error: unknown): FailureReason | null {
	if (error instanceof SendFailure) return error.reason;
	if (error instanceof AggregateError) return reasonOfAll(error.errors);
	if (!(error instanceof Error)) return null;
	const code = codeOf(error);
	return REASON_BY_CODE.get(code) ?? (HANDSHAKE_CODE.test(code) ? "tls_failed" : null);
}

/** If several addresses were tried, any other reason takes precedence over an unreachable host. */
function reasonOfAll(all: readonly unknown[]): FailureReason | null {
	const reasons = all.map(reasonOf);
	return reasons.find((reason) => reason !== null && reason !== "host_unreachable") ?? reasons[0] ?? null;
}

/** Whether the connection was closed during the request, rather than answered incorrectly. */
export function isConnectionClosed(error: unknown): boolean {
	return reasonOf(error) === "connection_reset";
}

export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/** The error's `code`, or an empty string. */
export function codeOf(error: Error): string {
	return "code" in error && typeof error.code === "string" ? error.code : "";
}
