/** Why a request got no response, in words: for the dashboard, the command line and the service's own checks. */

/** What name servers answered, by the API's stable code. */
const DNS: Readonly<Record<string, string>> = {
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

/** What name servers answered, in a sentence. */
export const dnsText = (code: string): string => DNS[code] ?? "The name couldn't be resolved.";

/** A certificate that a receiver presented and that was rejected, as in the API's `Attempt`. */
export interface Certificate {
	readonly subject: string;
	readonly issuer: string;
	readonly names: readonly string[];
	readonly valid_from: string | null;
	readonly valid_to: string | null;
}

/** A certificate's parts by their names: who it is for, who issued it, and its dates. */
export function certificateFields(certificate: Certificate): Readonly<Record<string, string>> {
	const { subject, issuer, names, valid_from, valid_to } = certificate;
	return {
		"Issued to": subject === "" ? "–" : subject,
		"Issued by": issuer === "" ? "–" : issuer === subject ? `${issuer} (itself: self-signed)` : issuer,
		"For hosts": names.length === 0 ? "none" : names.join(", "),
		"Valid from": timeText(valid_from),
		"Valid to": timeText(valid_to),
	};
}

const timeText = (at: string | null): string =>
	at === null ? "unknown" : `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
