import type { SigningKey } from "@posthorn/protocol";
import type { FailureReason } from "../../net/errors.ts";
import type { Shortage } from "../../net/shortages.ts";
import type { AttemptDetails, CLOSING_REASONS, SentHeaders } from "../../storage/port.ts";

/** The result of an attempt: a value, because sending never throws. The lifecycle switches over every `kind`. */
export type Outcome = Answered | Unanswered | NotSent;

interface Timed {
	/** When the attempt began, milliseconds since the Unix epoch. */
	readonly startedAt: number;
	/** When it ended: the next delay counts from here. */
	readonly endedAt: number;
}

interface Tried extends Timed {
	/** How long it waited for a turn to connect, which isn't the receiver's fault, whole milliseconds. */
	readonly waitedMs: number;
}

/** The receiver sent a status line within the time allowed. */
export interface Answered extends Tried {
	readonly kind: "answered";
	readonly status: number;
	/** At most the first 1,024 bytes of the body, as received, never decompressed. */
	readonly body: Uint8Array;
	/** Whether `body` is incomplete: there was more, or it was cut off or took too long. */
	readonly truncated: boolean;
	/** What explains a response that isn't 2xx. */
	readonly details?: AttemptDetails | null;
	readonly request: SentRequest;
}

/** The attempt was made, but no status line arrived. */
export interface Unanswered extends Tried {
	readonly kind: "unanswered";
	readonly reason: FailureReason;
	readonly url: string;
	readonly details?: AttemptDetails | null;
	/** Null if no connection was made, so nothing was sent. */
	readonly request: SentRequest | null;
}

/** Nothing was sent, on purpose: the delivery has ended. */
export interface NotSent extends Timed {
	readonly kind: "not_sent";
	readonly reason: ClosingReason;
}

/** Not an attempt: nothing was sent, because the webhook was paused or deleted, or the lease lost, while connecting. */
export interface Cancelled {
	readonly kind: "cancelled";
}

/** Not an attempt: nothing was sent, because this machine ran out of something. It is retried later. */
export interface Deferred {
	readonly kind: "deferred";
	readonly shortage: Shortage;
}

/** What sending returns: an attempt, or why none was made. */
export type Sent = Answered | Unanswered | Cancelled | Deferred;

/** The parts of the request that vary between attempts; the rest follows from the event. */
export interface SentRequest extends SentHeaders {
	readonly url: string;
}

/** Why a delivery was closed without a request. */
export type ClosingReason = (typeof CLOSING_REASONS)[number];

export type Reason = FailureReason | ClosingReason;

/** One sentence for each reason: what happened and what to do. Contains no address, so that none can leak. */
const REASON_TEXT: Record<Reason, string> = {
	timeout:
		"Timed out: the receiver didn't respond in time. If the work takes long, store the event, respond with 2xx, and do the work afterwards.",
	dns_not_found: "The receiver's host name wasn't found in DNS. Check the URL's spelling and its DNS records.",
	dns_failed: "The receiver's host name couldn't be resolved (DNS). Check that its name servers respond.",
	address_not_public:
		"The receiver's address isn't public, so nothing was sent. Use a publicly reachable host or, for local development, a tunnel.",
	address_not_allowed:
		"The operator of this service doesn't allow requests to the receiver's address, so nothing was sent. Use another host, or ask the operator.",
	port_not_allowed:
		"The operator of this service doesn't allow requests to the URL's port, so nothing was sent. Use another port, such as 443, and change the webhook's URL.",
	connection_refused: "The connection was refused. Check that the receiver is running and its port is open.",
	connection_reset: "The receiver closed the connection without a response. Its own log may say why.",
	host_unreachable: "The receiver's host couldn't be reached. Check its network and firewall.",
	tls_untrusted:
		"The receiver's certificate isn't trusted. Use one from a public authority and serve its full chain. The operator can trust another authority with POSTHORN_EGRESS_CA_FILE.",
	tls_expired: "The receiver's certificate has expired or isn't valid yet. Renew it.",
	tls_wrong_host: "The receiver's certificate is for another host name. Use one that names the URL's host.",
	tls_costly:
		"The receiver's TLS handshake takes too much work. Use a certificate with common keys and a short chain. Until then, other new receivers of the project wait, too.",
	tls_failed:
		"No secure connection could be established (TLS). Check that the receiver speaks TLS 1.2 or later and HTTP/1.1 on this port, and requires no client certificate.",
	malformed_response: "The receiver's response isn't valid HTTP. Check what listens on this port.",
	sender_failed: "The request failed because of an error on our side, not the receiver's.",
	expired: "Expired: the event's retention ended before it could be delivered.",
	unsubscribed: "Unsubscribed: the webhook no longer subscribes to this event type, so it wasn't retried.",
	deleted: "Deleted: the webhook was deleted before this attempt was due, so it wasn't made.",
	test_cancelled: "Cancelled: the test event was cancelled before this attempt, so it wasn't made.",
	skipped: "Skipped: the webhook was resumed from now, which skips its backlog and pending retries.",
};

/** Every reason, and so every error code of the delivery log. */
export const REASONS = Object.keys(REASON_TEXT) as Reason[];

/** The text for redirects, which count as responses and are never followed. */
const REDIRECT_TEXT = "The receiver responded with a redirect, which is never followed. Register the final URL.";

const EXPIRED_TEXT = "The receiver's certificate has expired. Renew it.";
const EARLY_TEXT = "The receiver's certificate isn't valid yet. Use one that is.";

/** When an attempt was made, and what is known of why it failed. */
type Circumstances = Partial<Timed> & { readonly details?: AttemptDetails | null };

/** One sentence or two: what happened, and what to do. */
export function reasonText(reason: Reason, circumstances: Circumstances = {}): string {
	return (reason === "tls_expired" ? datesText(circumstances) : null) ?? REASON_TEXT[reason];
}

/** Whether a certificate has expired or isn't valid yet; null if it's another one of its chain, or isn't known. */
function datesText({ details, startedAt = 0, endedAt = startedAt }: Circumstances): string | null {
	const { validFrom = null, validTo = null } = details?.certificate ?? {};
	if (validTo !== null && validTo < endedAt) return EXPIRED_TEXT;
	return validFrom !== null && validFrom > startedAt ? EARLY_TEXT : null;
}

/** The explanation of an outcome that isn't a success; null if the status code says it all. */
export function explain(outcome: Outcome): { code: string; text: string } | null {
	if (outcome.kind !== "answered") return { code: outcome.reason, text: reasonText(outcome.reason, outcome) };
	if (outcome.status >= 300 && outcome.status < 400) return { code: "redirect", text: REDIRECT_TEXT };
	return null;
}

/** One attempt to make: an event on its way to a webhook. */
export interface Shipment {
	readonly eventId: string;
	readonly eventType: string;
	/** The exact bytes of the event's envelope, sent as they are stored. */
	readonly body: Uint8Array;
	/** The destination and key, read at the last moment so that edits and rotations apply immediately. */
	readonly target: Target;
	/** Called right before signing and writing: whether this node still holds the project's lease. */
	mayLeave(): boolean;
	/** Called once, when the attempt begins. @param at its `startedAt` */
	onBegun?(at: number): void;
	/** Called each time the request is written: from then on the receiver may have it. */
	onWritten?(): void;
}

/** A webhook as the sender sees it. Its fields change when the owner edits the webhook. */
export interface Target {
	/** The project's id, for fairness between tenants. */
	readonly projectId: string;
	readonly url: string;
	/** Derived from the signing secret's SHA-256. */
	readonly key: SigningKey;
	/** For the headers of Standard Webhooks, if the owner asked for them. */
	readonly standardKey?: SigningKey | null;
	/** Whether requests may be sent: the webhook is neither paused nor deleted. */
	readonly active: boolean;
}

export interface Sender {
	/** Makes one attempt. Always resolves: failures are in the outcome. */
	send(shipment: Shipment): Promise<Sent>;
	/** Closes idle connections; attempts in flight may finish. */
	close(): Promise<void>;
}
