import type { DnsAnswer, RejectedCertificate } from "./errors.ts";

/** What name servers answered, in a sentence. The dashboard has the same. */
const DNS: Readonly<Record<DnsAnswer, string>> = {
	nxdomain: "DNS answered that the name doesn't exist (NXDOMAIN).",
	no_address: "The name exists in DNS, but has no address: no A or AAAA record.",
	invalid_name: "It can't be a host name: DNS names have at most 63 characters between two dots.",
	servfail: "The domain's name servers failed (SERVFAIL). Often they don't run, or DNSSEC is misconfigured.",
	refused: "The name servers refused to answer (REFUSED). They may not be responsible for the domain.",
	timeout: "The name servers didn't answer in time.",
	unusable: "The name servers' answer couldn't be used.",
	only_private: "The name has only private or reserved addresses.",
	only_denied: "The name has only addresses that the operator of this service doesn't allow.",
};

export const dnsText = (answer: DnsAnswer): string => DNS[answer];

/** The parts of a rejected certificate by their names: who it is for, who issued it, and its dates. */
export function certificateFields(certificate: RejectedCertificate): [name: string, value: string][] {
	const { subject, issuer, names, validFrom, validTo } = certificate;
	return [
		["Issued to", subject === "" ? "–" : subject],
		["Issued by", issuer === "" ? "–" : issuer === subject ? `${issuer} (itself: self-signed)` : issuer],
		["For hosts", names.length === 0 ? "none" : names.join(", ")],
		["Valid from", timeText(validFrom)],
		["Valid to", timeText(validTo)],
	];
}

const timeText = (at: number | null): string =>
	at === null ? "unknown" : `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
