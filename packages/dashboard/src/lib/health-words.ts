/** What is known of an attempt's answer. */
export interface AnswerFacts {
	readonly status_code: number | null;
	/** Why no answer came: the API's stable code. */
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
	timeout: { short: "timeout", now: "Not answering in time", has: "has not answered in time" },
	dns_not_found: {
		short: "name not found",
		now: "Its host name is not found",
		has: "has had a host name that is not found",
	},
	dns_failed: {
		short: "DNS failed",
		now: "Its host name cannot be resolved",
		has: "has had a host name that cannot be resolved",
	},
	address_not_public: {
		short: "address not public",
		now: "Its address is not public, so nothing is sent",
		has: "has had an address that is not public",
	},
	connection_refused: {
		short: "connection refused",
		now: "Refusing connections",
		has: "has refused connections",
	},
	connection_reset: {
		short: "connection closed",
		now: "Closing connections without an answer",
		has: "has closed connections without an answer",
	},
	host_unreachable: { short: "unreachable", now: "Unreachable", has: "has been unreachable" },
	tls_untrusted: {
		short: "untrusted certificate",
		now: "Showing an untrusted certificate",
		has: "has shown an untrusted certificate",
	},
	tls_expired: {
		short: "expired certificate",
		now: "Showing an expired certificate",
		has: "has shown an expired certificate",
	},
	tls_wrong_host: {
		short: "certificate of another host",
		now: "Showing another host's certificate",
		has: "has shown another host's certificate",
	},
	tls_failed: {
		short: "no secure connection",
		now: "No secure connection can be made",
		has: "has made no secure connection",
	},
	malformed_response: {
		short: "invalid answer",
		now: "Answering with invalid HTTP",
		has: "has answered with invalid HTTP",
	},
	sender_failed: {
		short: "fault on our side",
		now: "Not reached, by a fault on our side",
		has: "has not been reached, by a fault on our side",
	},
	expired: { short: "expired", now: "Its events expire before they are delivered", has: "has let events expire" },
	unsubscribed: {
		short: "unsubscribed",
		now: "Its last event was no longer subscribed to",
		has: "has skipped an event",
	},
	deleted: { short: "deleted", now: "Deleted before its next attempt", has: "was deleted before an attempt" },
	skipped: { short: "skipped", now: "Its last event was skipped", has: "has skipped an event" },
};

const UNKNOWN: Phrases = { short: "no answer", now: "Failing", has: "has failed" };

/** An attempt's answer in words: the status that came back, or why none did. */
export function answerPhrases({ status_code, error_code }: AnswerFacts): Phrases {
	if (status_code !== null) {
		return { short: String(status_code), now: `Answering ${status_code}`, has: `has answered ${status_code}` };
	}
	return PHRASES[error_code ?? ""] ?? UNKNOWN;
}
