import { exactUtc } from "../text/time.ts";

/** What name servers answered, in a sentence, by the API's stable code. */
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

export const dnsWords = (code: string): string => DNS[code] ?? "The name couldn't be resolved.";

/** The certificate that a receiver presented and that was rejected. */
export interface Certificate {
	readonly subject: string;
	readonly issuer: string;
	readonly names: readonly string[];
	readonly valid_from: string | null;
	readonly valid_to: string | null;
}

/** Who issued it, in short: the common name or the organization. */
export const issuerName = ({ issuer }: Certificate): string =>
	/(?:^|, )CN=([^,]+)/.exec(issuer)?.[1] ?? /(?:^|, )O=([^,]+)/.exec(issuer)?.[1] ?? "an unknown authority";

/** A certificate's parts by their names, for a table. */
export function certificateFields({
	subject,
	issuer,
	names,
	valid_from,
	valid_to,
}: Certificate): Record<string, string> {
	const time = (at: string | null) => (at === null ? "unknown" : exactUtc(Date.parse(at)));
	return {
		"Issued to": subject === "" ? "–" : subject,
		"Issued by": issuer === subject ? `${issuer} (itself: self-signed)` : issuer === "" ? "–" : issuer,
		"For hosts": names.length === 0 ? "none" : names.join(", "),
		"Valid from": time(valid_from),
		"Valid to": time(valid_to),
	};
}
