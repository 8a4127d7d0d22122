import type { Shortage } from "./shortages.ts";

/**
 * What an attempt came to. An outcome is a value: sending never throws, and whoever decides what comes next switches
 * over `kind` exhaustively.
 */
export type Outcome = Answered | Unanswered | NotSent;

interface Timed {
	/** When the attempt began, milliseconds since the Unix epoch. */
	readonly startedAt: number;
	/** When it was over: the next delay counts from here. */
	readonly endedAt: number;
}

/** An attempt was made. */
interface Tried extends Timed {
	/** How much of this time it waited for its turn to connect, whole milliseconds: not the receiver's time. */
	readonly waitedMs: number;
}

/** The receiver sent a status line within the time allowed. */
export interface Answered extends Tried {
	readonly kind: "answered";
	readonly status: number;
	/** The first 1,024 bytes of the body at most, as they came, never inflated. */
	readonly body: Uint8Array;
	/** Whether `body` is not all of it: there was more, or it broke off or took too long. */
	readonly truncated: boolean;
	readonly request: SentRequest;
}

/** It was tried and no status line came. */
export interface Unanswered extends Tried {
	readonly kind: "unanswered";
	readonly reason: FailureReason;
	/** Where it was tried. */
	readonly url: string;
	/** Null when no connection came about, so that nothing was sent. */
	readonly request: SentRequest | null;
}

/** Nothing was sent, on purpose: the delivery is over. */
export interface NotSent extends Timed {
	readonly kind: "not_sent";
	readonly reason: ClosingReason;
}

/** Nothing was sent: while the connection was made the webhook was paused or deleted, or the lease lost. No attempt. */
export interface Withheld {
	readonly kind: "withheld";
}

/** Nothing was sent: this machine ran out of something that a send needs. No attempt: it is tried again later. */
export interface Deferred {
	readonly kind: "deferred";
	readonly shortage: Shortage;
}

/** What sending answers with: an attempt, or why none was made. */
export type Sent = Answered | Unanswered | Withheld | Deferred;

/** What of the request varies from attempt to attempt; the rest follows from the event. */
export interface SentRequest {
	readonly url: string;
	/** The brand word in the header names and the user agent. */
	readonly brand: string;
	/** The value of the timestamp header, whole seconds. */
	readonly timestamp: number;
	/** The value of the signature header, 64 hexadecimal characters. */
	readonly signature: string;
}

/** Why no answer came: stable codes, shown to people in the words of {@link reasonText}. */
export type FailureReason =
	| "timeout"
	| "dns_not_found"
	| "dns_failed"
	| "address_not_public"
	| "connection_refused"
	| "connection_reset"
	| "host_unreachable"
	| "tls_untrusted"
	| "tls_expired"
	| "tls_wrong_host"
	| "tls_failed"
	| "malformed_response"
	| "sender_failed";

/** Why a delivery was closed without a request. */
export type ClosingReason = "expired" | "unsubscribed" | "skipped" | "deleted";

export type Reason = FailureReason | ClosingReason;

/** One sentence for each reason: what happened and what to do. Names no address, so that none can leak. */
const REASON_TEXT: Record<Reason, string> = {
	timeout: "Timed out: the receiver did not answer in time. Answer 2xx at once and do the work afterwards.",
	dns_not_found: "The receiver's host name does not exist (DNS). Check the URL's spelling and its DNS records.",
	dns_failed: "The receiver's host name could not be resolved (DNS). Check that its name servers answer.",
	address_not_public:
		"The receiver's address is not public, so nothing was sent. Use a publicly reachable host; for local development, a tunnel.",
	connection_refused: "The connection was refused. Check that the receiver is running and its port is open.",
	connection_reset: "The receiver closed the connection before it answered. Its own log may say why.",
	host_unreachable: "The receiver's host could not be reached. Check its network and firewall.",
	tls_untrusted: "The receiver's certificate is not trusted. Use one from a public authority and serve its full chain.",
	tls_expired: "The receiver's certificate has expired or is not valid yet. Renew it, then replay.",
	tls_wrong_host: "The receiver's certificate is for another host name. Use one that names the URL's host.",
	tls_failed: "No secure connection could be made (TLS). Check that the receiver speaks TLS 1.2 or later on this port.",
	malformed_response: "The receiver's answer is not valid HTTP. Check what listens on this port.",
	sender_failed: "The request could not be sent because of a fault on our side. It will be tried again.",
	expired: "Expired: the event's retention ended before it could be delivered.",
	unsubscribed: "Unsubscribed: the webhook no longer takes this event type, so it was not tried again.",
	deleted: "Deleted: the webhook was deleted before this attempt was due, so it was not made.",
	skipped: "Skipped: the webhook was resumed from now, leaving out what had waited.",
};

/** What a redirect is told as; redirects are answers, and never followed. */
const REDIRECT_TEXT = "The receiver answered with a redirect, which is never followed. Register the final URL.";

export const reasonText = (reason: Reason): string => REASON_TEXT[reason];

/** The plain words for an outcome that is not a success, or null where the status code says it all. */
export function explain(outcome: Outcome): { code: string; text: string } | null {
	if (outcome.kind !== "answered") return { code: outcome.reason, text: reasonText(outcome.reason) };
	if (outcome.status >= 300 && outcome.status < 400) return { code: "redirect", text: REDIRECT_TEXT };
	return null;
}
