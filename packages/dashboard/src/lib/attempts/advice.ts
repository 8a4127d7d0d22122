import { type Certificate, dnsText } from "@posthorn/protocol";
import { formatMs } from "../text/numbers.ts";
import { serverNow } from "../text/server-time.ts";
import { dateUtc } from "../text/time.ts";
import { ADVICE_RULES, type Advice, type Failure, isOpen, once, onceFixed, SETTINGS } from "./advice-rules.ts";
import { invalidity, type ResponseFacts, statusText } from "./attempt-words.ts";

export type { Advice };

/** The fields of an attempt that the advice needs. */
export interface AdviceFacts extends ResponseFacts {
	readonly status: "delivered" | "retrying" | "failed";
	readonly url: string;
	readonly started_at?: string;
	readonly response_ms: number;
	/** The beginning of the response's body, if it is known. */
	readonly response_body?: string;
	/** Some of its header fields, if they are known. */
	readonly response_headers?: Readonly<Record<string, string>>;
	/** What name servers answered, if that is why there was no response. */
	readonly dns?: string | null;
	/** The certificate that was rejected. */
	readonly certificate?: Certificate | null;
}

/** A delivery's state: `open` while more attempts follow, `held` until its webhook is resumed, `over` if none follows. */
export type Prospect = "delivered" | "open" | "held" | "over";

type Explanation = (failure: Failure) => Advice;

/** Who issued it, in short: the common name or the organization. */
const issuerName = ({ issuer }: Certificate): string =>
	/(?:^|, )CN=([^,]+)/.exec(issuer)?.[1] ?? /(?:^|, )O=([^,]+)/.exec(issuer)?.[1] ?? "an unknown authority";

function expiryWords(certificate: Certificate | null, startedAt: number): string {
	const date = (at: string | null | undefined) => dateUtc(Date.parse(at ?? ""));
	const why = invalidity(certificate, startedAt);
	if (why === null) return "has expired or isn't valid yet";
	return why === "expired"
		? `expired on ${date(certificate?.valid_to)}`
		: `isn't valid before ${date(certificate?.valid_from)}`;
}

/** What sends the event again, after `then`. */
const nextAction = ({ isRetried, isHeld }: Pick<Failure, "isRetried" | "isHeld">): string =>
	isHeld ? "resume the webhook" : isRetried ? "retry now" : "replay";

/** By the reason why there was no response. */
const WITHOUT_RESPONSE: Readonly<Record<string, Explanation>> = {
	timeout: ({ host, took }) => ({
		why: `${host} sent no status line within ${took}, which is all the time an attempt has.`,
		tries: [
			"If the work takes long, store the event, respond with 2xx, and do the work afterwards.",
			"If the receiver should be fast, check whether it's overloaded, or whether a firewall silently drops the connection.",
		],
	}),
	dns_not_found: ({ host, dns }) =>
		dns === "no_address"
			? {
					why: `${host} exists in DNS, but has no address, so there was nowhere to connect to.`,
					tries: [
						`Add an A or AAAA record for ${host}, or a CNAME to a name that has one.`,
						`Or check the spelling of the URL ${SETTINGS}.`,
					],
				}
			: {
					why: `DNS has no host called ${host}, so there was nowhere to connect to.`,
					tries: [
						`Check the spelling of the URL ${SETTINGS}.`,
						`If it's right, check that the DNS record of ${host} still exists and its domain hasn't expired.`,
					],
				},
	dns_failed: ({ host, dns, ...failure }) => ({
		why: `${host} couldn't be resolved. ${dnsText(dns ?? "unusable")}`,
		tries: [
			once("the name servers respond again", failure),
			`If it keeps happening, check the domain's name servers, for example with “dig ${host}”.`,
		],
	}),
	address_not_public: ({ host }) => ({
		why: `${host} leads to a private or reserved address. Nothing is sent there, so that webhooks cannot reach into internal networks.`,
		tries: [
			"Use a host that's reachable from the public internet, or a tunnel with an HTTPS address for local development.",
			"If the receiver has to be on a private network, the operator of this service can allow its address range (POSTHORN_EGRESS_ALLOW).",
		],
	}),
	address_not_allowed: ({ host }) => ({
		why: `${host} leads to an address that the operator of this service excludes, or to the service's own machine. Nothing is sent there.`,
		tries: [
			"Use a host with another address.",
			"If the receiver has to stay there, the operator can allow its address (POSTHORN_EGRESS_ALLOW, POSTHORN_EGRESS_DENY).",
		],
	}),
	port_not_allowed: ({ host }) => ({
		why: `The port in ${host} isn't among those that the operator of this service allows, so nothing is sent there.`,
		tries: [
			`Let the receiver listen on port 443, and remove the port from the URL ${SETTINGS}.`,
			"If it needs this port, the operator can allow it (POSTHORN_EGRESS_PORTS), except for 0 and 25.",
		],
	}),
	connection_refused: ({ host }) => ({
		why: `${host} is up, but nothing is listening on that port.`,
		tries: ["Start the receiver, and check that it listens on the URL's port.", "Check the firewall in front of it."],
	}),
	connection_reset: ({ host }) => ({
		why: `${host} accepted the connection and closed it before responding.`,
		tries: [
			"Check the receiver's own log: it may have crashed or restarted.",
			"A proxy in front of it may limit connections or sizes.",
		],
	}),
	host_unreachable: ({ host }) => ({
		why: `There's currently no network route to ${host}.`,
		tries: ["Check that the host is up, and that its network and firewall allow incoming connections."],
	}),
	tls_untrusted: ({ host, certificate }) => ({
		why:
			certificate === null
				? `The certificate of ${host} wasn't issued by a trusted authority, or its chain is incomplete.`
				: certificate.issuer === certificate.subject
					? `The certificate of ${host} is self-signed, so it isn't trusted.`
					: `The certificate of ${host} was issued by ${issuerName(certificate)}, which isn't a trusted authority, or its chain is incomplete.`,
		tries: [
			"Serve the full chain, including intermediate certificates. Most servers call it “fullchain”.",
			"Replace a self-signed certificate with one from a public authority, or have the operator trust your own authority with POSTHORN_EGRESS_CA_FILE.",
		],
	}),
	tls_expired: ({ host, certificate, startedAt, ...failure }) => ({
		why: `The certificate of ${host} ${expiryWords(certificate, startedAt)}.`,
		tries: [`Renew it, reload the server, then ${nextAction(failure)}.`, "If it is new, check the server's clock."],
	}),
	tls_wrong_host: ({ host, certificate }) => ({
		why:
			certificate === null || certificate.names.length === 0
				? `The server's certificate isn't for ${host}.`
				: `The server's certificate isn't for ${host}, but for ${certificate.names.join(", ")}.`,
		tries: [
			`Use a certificate for ${host}, or enter the certificate's host name ${SETTINGS}.`,
			"If the server hosts several sites, check that this one has its own certificate.",
		],
	}),
	tls_costly: ({ host }) => ({
		why: `Checking the certificates of ${host}, or those of another new receiver of this project, takes too much CPU time.`,
		tries: [
			"Use a certificate with a common key (P-256, or RSA with 2,048 bits), and serve only its own chain.",
			"If the certificate is ordinary, check the project's other receivers: new ones wait while one of them is costly.",
		],
	}),
	tls_failed: ({ host }) => ({
		why: `${host} and the service couldn't agree on a secure connection.`,
		tries: [
			"Check that this is an HTTPS port, and that the receiver supports TLS 1.2 or later.",
			"The receiver must not require a client certificate.",
		],
	}),
	malformed_response: ({ host }) => ({
		why: `The response from ${host} isn't HTTP.`,
		tries: ["Check that a web server is listening on the URL's port, not another service."],
	}),
	sender_failed: ({ isRetried, isHeld }) => ({
		why: "The request failed because of an error on our side, not the receiver's.",
		tries: [
			isHeld
				? "Resume the webhook to send it again."
				: isRetried
					? "There's nothing to do: it's retried automatically."
					: "Replay it to send it again.",
			"If it keeps happening, tell the operator of this service.",
		],
	}),
	expired: () => ({
		why: "The attempt wasn't made, because the event's retention ended first, for example while the webhook was paused.",
		tries: ["Replay it to send it anyway, while the event is still stored."],
	}),
	unsubscribed: () => ({
		why: "The webhook was unsubscribed from this event type while a retry was pending.",
		tries: [`Subscribe it to the type again ${SETTINGS}, then replay.`],
	}),
	deleted: () => ({
		why: "The webhook was deleted before this attempt was due.",
		tries: ["To receive these events again, create a new webhook. It gets events published from then on."],
	}),
	skipped: () => ({
		why: "The webhook was resumed “from now on”, which skips its backlog.",
		tries: ["Replay it if you need this event anyway."],
	}),
	test_cancelled: () => ({
		why: "Someone cancelled the test before this attempt was due.",
		tries: ["Send another test from the webhook's page, or replay this one."],
	}),
};

/** Advice by status code, where it is more specific than advice for the class. */
const BY_STATUS: Readonly<Record<number, Explanation>> = {
	304: ({ host }) => ({
		why: `${host} says that nothing has changed, which isn't an answer to a POST. Only a 2xx response counts as accepted.`,
		tries: ["Have the receiver return 2xx.", "Check whether a cache in front of it answers in its place."],
	}),
	400: ({ host }) => ({
		why: `${host} rejects the request itself.`,
		tries: [
			"Read the response: it may say what is wrong.",
			"Check the receiver's clock: code based on our example returns 400 if the timestamp is more than 5 minutes off.",
		],
	}),
	401: ({ host }) => ({
		why: `${host} doesn't accept the signature, or requires a login.`,
		tries: [
			"Check that the receiver uses this webhook's current signing secret. Rotating it invalidates the old one immediately.",
			"It must verify the raw body bytes, before any parsing.",
			"The URL must not require a login, such as HTTP basic authentication.",
		],
	}),
	403: ({ host }) => ({
		why: `${host} refuses the request.`,
		tries: [
			"A firewall or bot protection in front of the receiver often does this. Allow requests to this path.",
			"If the receiver itself refuses the request, its log says why.",
		],
	}),
	402: ({ host }) => ({
		why: `${host} says that a payment is due.`,
		tries: ["Check the account of the receiver's hosting service: it may be suspended, or have used up its plan."],
	}),
	404: ({ host }) => ({
		why: `${host} has nothing at this path.`,
		tries: [`Check the path of the URL ${SETTINGS}.`, "If it's right, check that the receiver is deployed."],
	}),
	405: ({ host, headers: { allow = "" } }) => ({
		why: `${host} doesn't accept POST at this path${/^[A-Z, ]+$/.test(allow) && !allow.includes("POST") ? `, only ${allow}` : ""}.`,
		tries: [
			`Check the path of the URL ${SETTINGS}. The receiver may expect another one.`,
			"Have the receiver accept POST there.",
		],
	}),
	408: ({ host, ...failure }) => ({
		why: `${host} timed out before it had read the request.`,
		tries: ["Check whether the receiver is overloaded.", onceFixed(failure)],
	}),
	409: ({ host }) => ({
		why: `${host} says that the event conflicts with what it already has.`,
		tries: [
			"If it has already handled this event, have it return 2xx: an event can arrive more than once.",
			"The receiver's own log may say more.",
		],
	}),
	410: ({ host, ...failure }) => ({
		why: `${host} says that this URL no longer exists.`,
		tries: [
			`Enter the receiver's new URL ${SETTINGS}, then ${nextAction(failure)}.`,
			`If it's no longer needed, ${failure.isHeld ? "" : "pause or "}delete the webhook.`,
		],
	}),
	413: ({ host }) => ({
		why: `The body is larger than ${host} accepts.`,
		tries: ["Raise the limit for request bodies in the receiver and in its proxy."],
	}),
	415: ({ host }) => ({
		why: `${host} doesn't accept application/json.`,
		tries: ["Have the receiver accept JSON bodies on this path."],
	}),
	421: ({ host }) => ({
		why: `The server at this address doesn't serve ${host}.`,
		tries: ["Check the host in the receiver's server configuration and in its certificate."],
	}),
	429: ({ host, ...failure }) => ({
		why: `${host} is rate-limiting requests.`,
		tries: [
			`Raise the receiver's limit for this path.${isOpen(failure) ? " The delays between retries grow." : ""}`,
			`If more than one event is in flight at a time, lower that number ${SETTINGS}.`,
		],
	}),
	501: ({ host }) => ({ why: `${host} doesn't implement this.`, tries: ["Have the receiver accept POST there."] }),
	502: ({ host }) => ({
		why: `A proxy in front of ${host} got no usable response from the receiver.`,
		tries: ["Check that the receiver is running, and check both its log and the proxy's for the error."],
	}),
	503: ({ host, ...failure }) => ({
		why: `${host} is overloaded or under maintenance.`,
		tries: [once("it's back", failure), "If it stays down, check the receiver's hosting."],
	}),
	504: ({ host }) => ({
		why: `A proxy in front of ${host} timed out waiting for the receiver.`,
		tries: [
			"If the work takes long, store the event, respond with 2xx, and do the work afterwards.",
			"Check that the receiver is running.",
		],
	}),
};

const UNKNOWN_REASON: Explanation = ({ host }) => ({
	why: `${host} couldn't be reached, for an unknown reason.`,
	tries: ["Check that the receiver is running and reachable from the public internet."],
});

function ofStatus(status: number, failure: Failure): Advice {
	const rule = ADVICE_RULES.find(({ statuses, fits }) => statuses(status) && fits(failure));
	if (rule !== undefined) return rule.advice(failure);
	const own = BY_STATUS[status];
	if (own !== undefined) return own(failure);
	const { host } = failure;
	if (status >= 500) {
		return {
			why: `${host} failed while it handled the request.`,
			tries: ["Check the receiver's own log for the error.", onceFixed(failure)],
		};
	}
	if (status >= 300 && status < 400) {
		return {
			why: `${host} redirects to another URL. Redirects are never followed, so that events can't be diverted.`,
			tries: [`Enter the final URL ${SETTINGS}. It often differs only by “www” or a slash at the end.`],
		};
	}
	return {
		why: `${host} refused the request. Only a 2xx response counts as accepted.`,
		tries: ["Read the response: it may say what is wrong.", "The receiver's own log may say more."],
	};
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url);

/**
 * An attempt's result in plain words, and what its owner can do about it.
 *
 * @param prospect by default, as the attempt itself shows it
 */
export function adviceFor(attempt: AdviceFacts, prospect = prospectOf(attempt)): Advice {
	const advice = explain(attempt, prospect);
	return prospect === "delivered" ? { ...advice, tries: [] } : advice;
}

const PROSPECTS = { delivered: "delivered", retrying: "open", failed: "over" } as const;
const prospectOf = ({ status }: AdviceFacts): Prospect => PROSPECTS[status];

function explain(attempt: AdviceFacts, prospect: Prospect): Advice {
	const { status, status_code, error_code, url, response_ms, response_body: body = "" } = attempt;
	const { response_headers: headers = {}, dns = null, certificate = null } = attempt;
	const about = { url, host: hostOf(url), took: formatMs(response_ms) };
	const startedAt = attempt.started_at === undefined ? serverNow() : Date.parse(attempt.started_at);
	const isHeld = prospect === "held";
	const failure: Failure = {
		...about,
		isRetried: isHeld || prospect === "open",
		isHeld,
		body,
		headers,
		dns,
		certificate,
		startedAt,
	};
	if (status === "delivered") {
		const result = status_code === null ? "accepted it" : `returned ${statusText(status_code)}`;
		return { why: `${failure.host} ${result} after ${failure.took}.`, tries: [] };
	}
	if (status_code !== null) return ofStatus(status_code, failure);
	return (WITHOUT_RESPONSE[error_code ?? ""] ?? UNKNOWN_REASON)(failure);
}
