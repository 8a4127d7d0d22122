import { type Answered, statusText } from "./attempt-words.ts";
import { formatMs } from "./numbers.ts";

/** What the advice needs to know of an attempt. */
export interface AdviceFacts extends Answered {
	readonly status: "delivered" | "retrying" | "failed";
	readonly url: string;
	readonly response_ms: number;
}

/** Why an attempt ended as it did, and what to try. */
export interface Advice {
	readonly why: string;
	/** The likeliest first; none for what was delivered. */
	readonly tries: readonly string[];
}

interface Told {
	readonly host: string;
	/** How long the attempt took: `15.0 s`. */
	readonly took: string;
}

type Teller = (told: Told) => Advice;

const SETTINGS = "in the webhook’s settings";

/** By the reason for which no answer came. */
const WITHOUT_ANSWER: Readonly<Record<string, Teller>> = {
	timeout: ({ host, took }) => ({
		why: `${host} sent no status line within ${took}, which is all the time an attempt has.`,
		tries: [
			"Answer 2xx at once and do the work afterwards, from a queue of your own.",
			"If the receiver should be quick, see whether it is overloaded, or whether a firewall drops the connection without a word.",
		],
	}),
	dns_not_found: ({ host }) => ({
		why: `The name system (DNS) knows no host called ${host}, so there was nowhere to connect to.`,
		tries: [
			`Check the spelling of the URL ${SETTINGS}.`,
			`If it is right, look whether the DNS record of ${host} is still there and its domain is paid for.`,
		],
	}),
	dns_failed: ({ host }) => ({
		why: `The name servers of ${host} gave no usable answer.`,
		tries: [
			"Retries usually get through once the name servers answer again.",
			`If it goes on, check the name servers of the domain, for example with “dig ${host}”.`,
		],
	}),
	address_not_public: ({ host }) => ({
		why: `${host} leads to a private or reserved address. Nothing is sent there, so that webhooks cannot reach into internal networks.`,
		tries: [
			"Use a host that can be reached from the public internet; for local development, a tunnel with an HTTPS address.",
			"If the receiver belongs on a private network, the operator of this service can let its range through (POSTHORN_EGRESS_ALLOW).",
		],
	}),
	connection_refused: ({ host }) => ({
		why: `${host} is there, but nothing listens on that port.`,
		tries: ["Start the receiver, and check that it listens on the URL’s port.", "Check the firewall in front of it."],
	}),
	connection_reset: ({ host }) => ({
		why: `${host} took the connection and closed it before any answer.`,
		tries: [
			"Look into the receiver’s own log at this time: it may have crashed or been restarted.",
			"A proxy in front of it may have limits on connections or sizes.",
		],
	}),
	host_unreachable: ({ host }) => ({
		why: `No network route leads to ${host} at the moment.`,
		tries: ["Check that the host is up and its network and firewall let connections in."],
	}),
	tls_untrusted: ({ host }) => ({
		why: `The certificate of ${host} was not issued by an authority that is trusted here, or its chain is incomplete.`,
		tries: [
			"Serve the full chain, intermediate certificates included: most servers call it “fullchain”.",
			"Replace a self-signed certificate by one from a public authority.",
		],
	}),
	tls_expired: ({ host }) => ({
		why: `The certificate of ${host} has expired, or is not valid yet.`,
		tries: ["Renew it, have the server load the new one, then replay.", "If it is new, check the server’s clock."],
	}),
	tls_wrong_host: ({ host }) => ({
		why: `The certificate that was shown does not name ${host}.`,
		tries: [
			`Use a certificate that names ${host}, or enter the name that the certificate has ${SETTINGS}.`,
			"Several sites on one server: check that this name has its own certificate there.",
		],
	}),
	tls_failed: ({ host }) => ({
		why: `${host} and the service could not agree on a secure connection.`,
		tries: [
			"Check that the receiver speaks TLS 1.2 or later on this port, and that it is an HTTPS port at all.",
			"The receiver must not ask for a client certificate.",
		],
	}),
	malformed_response: ({ host }) => ({
		why: `What ${host} answered is not HTTP.`,
		tries: ["Check that a web server, and not another service, listens on the URL’s port."],
	}),
	sender_failed: () => ({
		why: "The request could not be sent because of a fault on our side; the receiver has no part in it.",
		tries: [
			"There is nothing to do: it is tried again by itself.",
			"If it goes on, tell the operator of this service.",
		],
	}),
	expired: () => ({
		why: "The attempt waited until the event’s retention ended, for example behind a paused webhook, and was not made.",
		tries: ["Replay it to send it after all, while the event is still kept."],
	}),
	unsubscribed: () => ({
		why: "The webhook stopped taking this event type while a retry was waiting.",
		tries: [`Subscribe it to the type again ${SETTINGS}, then replay.`],
	}),
	deleted: () => ({
		why: "The webhook was deleted before this attempt was due.",
		tries: ["To receive such events again, create a new webhook: it gets those published from then on."],
	}),
	skipped: () => ({
		why: "The webhook was resumed with “from now on”, which leaves out what had waited.",
		tries: ["Replay it if this event is wanted after all."],
	}),
};

/** Advice by status code, where it is more specific than advice for the class. */
const BY_STATUS: Readonly<Record<number, Teller>> = {
	400: ({ host }) => ({
		why: `${host} finds fault with the request itself.`,
		tries: [
			"See what it says in its answer below.",
			"Check the receiver’s clock: code that follows our example answers 400 when the timestamp is more than 5 minutes off.",
		],
	}),
	401: ({ host }) => ({
		why: `${host} does not accept the signature, or asks for a login.`,
		tries: [
			"Check that the receiver has this webhook’s signing secret of now: rotating it ends the old one at once.",
			"It must sign the raw body bytes, before any parsing.",
			"No login, such as HTTP basic authentication, may stand in front of it.",
		],
	}),
	403: ({ host }) => ({
		why: `${host} refuses the request.`,
		tries: [
			"A firewall or bot protection in front of the receiver often does this: let requests to this path through.",
			"If the receiver itself refuses, its log says why.",
		],
	}),
	404: ({ host }) => ({
		why: `${host} has nothing at this path.`,
		tries: [`Check the path of the URL ${SETTINGS}.`, "If it is right, see whether the receiver was deployed."],
	}),
	405: ({ host }) => ({
		why: `${host} takes no POST at this path.`,
		tries: [
			`Check the path of the URL ${SETTINGS}: another one may be the webhook’s.`,
			"Have the receiver accept POST there.",
		],
	}),
	408: ({ host }) => ({
		why: `${host} gave up on the request before it had read it.`,
		tries: ["See whether the receiver is overloaded; retries often get through."],
	}),
	410: ({ host }) => ({
		why: `${host} says that this address is gone for good.`,
		tries: [
			`Enter the receiver’s new URL ${SETTINGS}, then replay.`,
			"If nobody needs it any more, pause or delete the webhook.",
		],
	}),
	413: ({ host }) => ({
		why: `The body is larger than ${host} accepts.`,
		tries: [
			"Raise the limit for request bodies in the receiver and in the proxy before it: events have up to 256 KiB.",
		],
	}),
	415: ({ host }) => ({
		why: `${host} does not take application/json.`,
		tries: ["Have the receiver accept JSON bodies on this path."],
	}),
	421: ({ host }) => ({
		why: `The server at this address is not responsible for ${host}.`,
		tries: ["Check the host in the receiver’s server configuration and in its certificate."],
	}),
	429: ({ host }) => ({
		why: `${host} takes fewer requests than it gets.`,
		tries: [
			"Raise its limit for this path; retries come with growing waits.",
			`Lower how many first attempts may be under way at once ${SETTINGS}.`,
		],
	}),
	501: ({ host }) => ({ why: `${host} does not implement this.`, tries: ["Have the receiver accept POST there."] }),
	502: ({ host }) => ({
		why: `A proxy before ${host} got no usable answer from the receiver behind it.`,
		tries: ["Check that the receiver behind the proxy runs, and look into both logs at this time."],
	}),
	503: ({ host }) => ({
		why: `${host} is overloaded or under maintenance.`,
		tries: ["Retries get through once it is back. If it stays so, see what its host says."],
	}),
	504: ({ host }) => ({
		why: `A proxy before ${host} waited for the receiver behind it in vain.`,
		tries: ["Answer 2xx at once and do the work afterwards.", "Check that the receiver behind the proxy runs."],
	}),
};

const BEYOND_WORDS: Teller = ({ host }) => ({
	why: `${host} could not be reached, for a reason that has no name here.`,
	tries: ["Check that the receiver runs and can be reached from the public internet."],
});

function ofStatus(status: number, told: Told): Advice {
	const own = BY_STATUS[status];
	if (own !== undefined) return own(told);
	const { host } = told;
	if (status >= 500) {
		return {
			why: `${host} failed while it handled the request.`,
			tries: [
				"Look into the receiver’s own log at this time: it says why.",
				"Once it is mended, retries arrive by themselves; what failed for good can be replayed.",
			],
		};
	}
	if (status >= 300 && status < 400) {
		return {
			why: `${host} redirects to another URL. Redirects are never followed, so that nobody can lead events elsewhere.`,
			tries: [
				`Enter the final URL ${SETTINGS}: often it is the one with or without “www”, or with a slash at its end.`,
			],
		};
	}
	return {
		why: `${host} turned the request down. Only an answer of 2xx counts as accepted.`,
		tries: ["See what it says in its answer below.", "The receiver’s own log may say more."],
	};
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url);

/** An attempt's result in plain words, and what its owner can do about it. */
export function adviceFor({ status, status_code, error_code, url, response_ms }: AdviceFacts): Advice {
	const told: Told = { host: hostOf(url), took: formatMs(response_ms) };
	if (status === "delivered") {
		const answer = status_code === null ? "accepted it" : `answered ${statusText(status_code)}`;
		return { why: `${told.host} ${answer} after ${told.took}.`, tries: [] };
	}
	if (status_code !== null) return ofStatus(status_code, told);
	return (WITHOUT_ANSWER[error_code ?? ""] ?? BEYOND_WORDS)(told);
}
