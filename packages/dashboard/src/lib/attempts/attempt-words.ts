import type { Certificate } from "@posthorn/protocol";
import { timeOfDay } from "../text/time.ts";

export const ATTEMPT_STATUSES = ["delivered", "retrying", "failed"] as const;
export type AttemptStatus = (typeof ATTEMPT_STATUSES)[number];

/** The parts of an attempt that describe its response. */
export interface ResponseFacts {
	/** The status of the response, null without one. */
	readonly status_code: number | null;
	/** Why there was no response: the API's stable code. */
	readonly error_code: string | null;
}

interface Words {
	/** At a station of the track: as short as possible. */
	readonly station: string;
	/** Within a sentence, after "attempt 3" or "the last attempt": `timed out`. */
	readonly said: string;
	/** The drawer's headline: `The receiver didn't respond in time`. */
	readonly headline: string;
	/** Short, without a verb, for tables, after a colon and in parentheses: `connection refused`. */
	readonly short: string;
}

const WORDS: Readonly<Record<string, Words>> = {
	timeout: {
		station: "timeout",
		said: "timed out",
		headline: "The receiver didn't respond in time",
		short: "timeout",
	},
	dns_not_found: {
		station: "no host",
		said: "couldn't find the host",
		headline: "The receiver's host name wasn't found",
		short: "host not found",
	},
	dns_failed: {
		station: "DNS",
		said: "couldn't resolve the host name",
		headline: "The receiver's host name couldn't be resolved",
		short: "DNS failure",
	},
	address_not_public: {
		station: "blocked",
		said: "wasn't sent because the address isn't public",
		headline: "The receiver's address is not public",
		short: "address not public",
	},
	address_not_allowed: {
		station: "blocked",
		said: "wasn't sent because the operator doesn't allow the address",
		headline: "The service's operator doesn't allow the receiver's address",
		short: "address not allowed",
	},
	port_not_allowed: {
		station: "blocked",
		said: "wasn't sent because the operator doesn't allow the port",
		headline: "The service's operator doesn't allow the URL's port",
		short: "port not allowed",
	},
	connection_refused: {
		station: "refused",
		said: "was refused a connection",
		headline: "The receiver refused the connection",
		short: "connection refused",
	},
	connection_reset: {
		station: "closed",
		said: "was cut off before a response",
		headline: "The receiver closed the connection without a response",
		short: "connection closed",
	},
	host_unreachable: {
		station: "no route",
		said: "couldn't reach the host",
		headline: "The receiver's host couldn't be reached",
		short: "host unreachable",
	},
	tls_untrusted: {
		station: "TLS",
		said: "got an untrusted certificate",
		headline: "The receiver's certificate isn't trusted",
		short: "untrusted certificate",
	},
	tls_expired: {
		station: "expired",
		said: "got an expired certificate",
		headline: "The receiver's certificate has expired or isn't valid yet",
		short: "expired certificate",
	},
	tls_wrong_host: {
		station: "TLS",
		said: "got another host's certificate",
		headline: "The receiver's certificate is for another host",
		short: "certificate of another host",
	},
	tls_costly: {
		station: "TLS",
		said: "failed because the TLS handshake takes too much work",
		headline: "The TLS handshake takes too much work",
		short: "costly TLS handshake",
	},
	tls_failed: {
		station: "TLS",
		said: "couldn't establish a secure connection",
		headline: "No secure connection could be established",
		short: "no secure connection",
	},
	malformed_response: {
		station: "invalid",
		said: "got a response that isn't valid HTTP",
		headline: "The receiver's response isn't valid HTTP",
		short: "invalid response",
	},
	sender_failed: {
		station: "our error",
		said: "failed because of an error on our side",
		headline: "The request failed because of an error on our side",
		short: "error on our side",
	},
	expired: {
		station: "too old",
		said: "wasn't made because the event had expired",
		headline: "The event's retention ended before it could be sent",
		short: "expired",
	},
	unsubscribed: {
		station: "not sent",
		said: "wasn't made because the webhook is no longer subscribed to this event type",
		headline: "The webhook is no longer subscribed to this event type",
		short: "unsubscribed",
	},
	deleted: {
		station: "not sent",
		said: "wasn't made because the webhook had been deleted",
		headline: "The webhook was deleted",
		short: "deleted",
	},
	skipped: {
		station: "skipped",
		said: "was skipped when the webhook was resumed",
		headline: "The event was skipped when the webhook was resumed",
		short: "skipped",
	},
	test_cancelled: {
		station: "cancelled",
		said: "was cancelled",
		headline: "The test event was cancelled",
		short: "cancelled",
	},
};

const UNKNOWN: Words = {
	station: "no response",
	said: "got no response",
	headline: "No response",
	short: "no response",
};

/** Codes of deliveries that were closed without a request. */
const CLOSING = new Set(["expired", "unsubscribed", "skipped", "deleted", "test_cancelled"]);

/** Whether the entry is about a request at all, rather than a delivery closed without one. */
export const wasSent = ({ error_code }: Pick<ResponseFacts, "error_code">) => !CLOSING.has(error_code ?? "");

/** An attempt's response in words: its status, or why there was none. */
export const responseWords = ({ status_code, error_code }: ResponseFacts): Words =>
	status_code === null
		? (WORDS[error_code ?? ""] ?? UNKNOWN)
		: {
				station: String(status_code),
				said: `returned ${status_code}`,
				headline: `The receiver returned ${status_code}${reasonPhrase(status_code)}`,
				short: String(status_code),
			};

/** The codes of attempts without a response, with short words for each. */
export const ERROR_LABELS: Readonly<Record<string, string>> = Object.fromEntries(
	Object.entries(WORDS).map(([code, { short }]) => [code, short]),
);

/**
 * Which side of its dates a certificate was on at a time, in milliseconds since 1970: `expired`, `early`, or null if it
 * doesn't say or was valid.
 */
export function invalidity(certificate: Certificate | null, at: number): "expired" | "early" | null {
	const { valid_from = null, valid_to = null } = certificate ?? {};
	if (valid_to !== null && Date.parse(valid_to) < at) return "expired";
	return valid_from !== null && Date.parse(valid_from) > at ? "early" : null;
}

interface Certified extends ResponseFacts {
	readonly started_at: string;
	/** The certificate that was rejected, if it is known. */
	readonly certificate?: Certificate | null;
}

interface Headlined extends Certified {
	readonly status: AttemptStatus;
	readonly attempt: number;
}

interface Explained extends Certified {
	readonly error: string | null;
}

/** The result in one line: `The receiver returned 500 (Internal Server Error)`. */
export function headline(attempt: Headlined): string {
	if (attempt.status === "delivered") {
		return attempt.attempt === 1 ? "Delivered on the first attempt" : `Delivered on attempt ${attempt.attempt}`;
	}
	return certificateFault(attempt) ?? responseWords(attempt).headline;
}

/** Why there was no response: in the service's words, unless the certificate says more. */
export function explanation(attempt: Explained): string {
	const fault = certificateFault(attempt);
	return fault === null ? (attempt.error ?? "There was no response.") : `${fault}.`;
}

/** Whether a certificate that was out of date has expired or isn't valid yet; null if that isn't known. */
function certificateFault({ error_code, certificate = null, started_at }: Certified): string | null {
	const why = error_code === "tls_expired" ? invalidity(certificate, Date.parse(started_at)) : null;
	return why && `The receiver's certificate ${why === "expired" ? "has expired" : "isn't valid yet"}`;
}

interface Spoken extends ResponseFacts {
	readonly attempt: number;
	readonly started_at: string;
}

/** An attempt as a screen reader reads it: `attempt 3 of 8 at 14:02:11 returned 500`. */
export function attemptSentence(attempt: Spoken, total: number): string {
	const at = timeOfDay(Date.parse(attempt.started_at), { seconds: true });
	return `attempt ${attempt.attempt} of ${total} at ${at} ${responseWords(attempt).said}`;
}

/** Names of the most common status codes of receivers (RFC 9110, 6585). */
const REASONS: Readonly<Record<number, string>> = {
	200: "OK",
	201: "Created",
	202: "Accepted",
	204: "No Content",
	301: "Moved Permanently",
	302: "Found",
	303: "See Other",
	304: "Not Modified",
	307: "Temporary Redirect",
	308: "Permanent Redirect",
	400: "Bad Request",
	401: "Unauthorized",
	403: "Forbidden",
	404: "Not Found",
	405: "Method Not Allowed",
	406: "Not Acceptable",
	408: "Request Timeout",
	409: "Conflict",
	410: "Gone",
	411: "Length Required",
	413: "Content Too Large",
	415: "Unsupported Media Type",
	421: "Misdirected Request",
	422: "Unprocessable Content",
	429: "Too Many Requests",
	500: "Internal Server Error",
	501: "Not Implemented",
	502: "Bad Gateway",
	503: "Service Unavailable",
	504: "Gateway Timeout",
};

/** The status with its name: `500 Internal Server Error`. */
export function statusText(status: number): string {
	const reason = REASONS[status];
	return reason === undefined ? String(status) : `${status} ${reason}`;
}

function reasonPhrase(status: number): string {
	const reason = REASONS[status];
	return reason === undefined ? "" : ` (${reason})`;
}
