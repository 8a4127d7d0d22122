import { type Certificate, dnsText } from "@posthorn/protocol";
import { dateUtc } from "../../text/time.ts";
import { invalidity } from "../attempt-words.ts";
import { type Explanation, isOpen, nextAction, once, SETTINGS } from "./failure.ts";

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

const BY_REASON: Readonly<Record<string, Explanation>> = {
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
		why: `${host} resolves to a private or reserved address. Nothing is sent there, so that webhooks can't reach internal networks.`,
		tries: [
			"Use a host that's reachable from the public internet, or a tunnel with an HTTPS address for local development.",
			"If the receiver has to be on a private network, the operator of this service can allow its address range (POSTHORN_EGRESS_ALLOW).",
		],
	}),
	address_not_allowed: ({ host }) => ({
		why: `${host} resolves to an address that the operator of this service excludes, or to the service's own machine. Nothing is sent there.`,
		tries: [
			"Use a host with another address.",
			"If the receiver has to stay there, the operator can allow its address (POSTHORN_EGRESS_ALLOW, POSTHORN_EGRESS_DENY).",
		],
	}),
	port_not_allowed: ({ host }) => ({
		why: `The port in ${host} isn't among those that the operator of this service allows, so nothing is sent there.`,
		tries: [
			`Have the receiver listen on port 443, and remove the port from the URL ${SETTINGS}.`,
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
			"The receiver must speak HTTP/1.1, not only HTTP/2, and must not require a client certificate.",
		],
	}),
	malformed_response: ({ host }) => ({
		why: `The response from ${host} isn't HTTP.`,
		tries: ["Check that a web server is listening on the URL's port, not another service."],
	}),
	sender_failed: (failure) => ({
		why: "The request failed because of an error on our side, not the receiver's.",
		tries: [
			isOpen(failure)
				? "There's nothing to do: it's retried automatically."
				: `To send it again, ${failure.isRetried ? nextAction(failure) : "replay it"}.`,
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

const UNKNOWN_REASON: Explanation = ({ host }) => ({
	why: `${host} couldn't be reached, for an unknown reason.`,
	tries: ["Check that the receiver is running and reachable from the public internet."],
});

/** By the reason why there was no response. */
export const withoutResponse = (reason: string | null): Explanation => BY_REASON[reason ?? ""] ?? UNKNOWN_REASON;
