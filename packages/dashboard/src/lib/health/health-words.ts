/** The parts of an attempt that describe its response. */
export interface ResponseFacts {
	readonly status_code: number | null;
	/** Why there was no response: the API's stable code. */
	readonly error_code: string | null;
}

interface Phrases {
	/** Short, for tables: `timed out`. */
	readonly short: string;
	/** Begins a sentence: `Timing out`. */
	readonly now: string;
	/** Follows a name: `has timed out`. */
	readonly has: string;
}

const PHRASES: Readonly<Record<string, Phrases>> = {
	timeout: { short: "timeout", now: "Not responding in time", has: "hasn't responded in time" },
	dns_not_found: {
		short: "name not found",
		now: "Host name not found",
		has: "hasn't been found in DNS",
	},
	dns_failed: {
		short: "DNS failed",
		now: "Host name can't be resolved",
		has: "has had DNS failures",
	},
	address_not_public: {
		short: "address not public",
		now: "Address isn't public, so nothing is sent",
		has: "has had an address that isn't public",
	},
	address_not_allowed: {
		short: "address not allowed",
		now: "Address isn't allowed by the operator, so nothing is sent",
		has: "has had an address that the operator doesn't allow",
	},
	port_not_allowed: {
		short: "port not allowed",
		now: "Port isn't allowed by the operator, so nothing is sent",
		has: "has had a port that the operator doesn't allow",
	},
	connection_refused: {
		short: "connection refused",
		now: "Refusing connections",
		has: "has refused connections",
	},
	connection_reset: {
		short: "connection closed",
		now: "Closing connections without a response",
		has: "has closed connections without a response",
	},
	host_unreachable: { short: "unreachable", now: "Unreachable", has: "has been unreachable" },
	tls_untrusted: {
		short: "untrusted certificate",
		now: "Using an untrusted certificate",
		has: "has used an untrusted certificate",
	},
	tls_expired: {
		short: "expired certificate",
		now: "Using an expired certificate",
		has: "has used an expired certificate",
	},
	tls_wrong_host: {
		short: "certificate of another host",
		now: "Using another host's certificate",
		has: "has used another host's certificate",
	},
	tls_costly: {
		short: "costly TLS handshake",
		now: "TLS handshakes take too much work",
		has: "has required costly TLS handshakes",
	},
	tls_failed: {
		short: "no secure connection",
		now: "No secure connection can be established",
		has: "has refused secure connections",
	},
	malformed_response: {
		short: "invalid response",
		now: "Responding with invalid HTTP",
		has: "has responded with invalid HTTP",
	},
	sender_failed: {
		short: "error on our side",
		now: "Not reached because of an error on our side",
		has: "hasn't been reached because of an error on our side",
	},
	expired: { short: "expired", now: "Events expire before they are delivered", has: "has let events expire" },
	unsubscribed: {
		short: "unsubscribed",
		now: "No longer subscribed to its last event",
		has: "has skipped an event",
	},
	deleted: { short: "deleted", now: "Deleted before its next attempt", has: "was deleted before an attempt" },
	test_cancelled: { short: "cancelled", now: "Its last test was cancelled", has: "has a cancelled test" },
	skipped: { short: "skipped", now: "Its last event was skipped", has: "has skipped an event" },
};

/** The codes of attempts without a response, with short words for each. */
export const ERROR_LABELS: Readonly<Record<string, string>> = Object.fromEntries(
	Object.entries(PHRASES).map(([code, { short }]) => [code, short]),
);

const UNKNOWN: Phrases = { short: "no response", now: "Failing", has: "has failed" };

/** An attempt's response in words: its status, or why there was none. */
export function responsePhrases({ status_code, error_code }: ResponseFacts): Phrases {
	if (status_code !== null) {
		return { short: String(status_code), now: `Returning ${status_code}`, has: `has returned ${status_code}` };
	}
	return PHRASES[error_code ?? ""] ?? UNKNOWN;
}
