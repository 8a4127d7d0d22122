import type { X509Certificate } from "node:crypto";
import { RECEIVERS } from "../../base/budgets.ts";
import { inertText } from "../../base/text.ts";
import { type RejectedCertificate, reasonOf, SendFailure } from "../errors.ts";

/** Reasons that a certificate explains. */
const OF_CERTIFICATES: ReadonlySet<unknown> = new Set(["tls_untrusted", "tls_expired", "tls_wrong_host"]);

/** The error that ended a handshake, with the receiver's certificate if that is why. */
export function withCertificate(error: Error, certificate: X509Certificate | null): Error {
	const reason = reasonOf(error);
	if (reason === null || certificate === null || !OF_CERTIFICATES.has(reason)) return error;
	return new SendFailure(reason, error.message, { cause: error, details: { certificate: factsOf(certificate) } });
}

function factsOf({ subject, issuer, subjectAltName, validFrom, validTo }: X509Certificate): RejectedCertificate {
	return {
		subject: nameOf(subject),
		issuer: nameOf(issuer),
		names: hostNames(subjectAltName),
		validFrom: timeOf(validFrom),
		validTo: timeOf(validTo),
	};
}

/** A distinguished name in one line. Node separates its parts by line feeds. */
const nameOf = (name: string | undefined): string =>
	inertText((name ?? "").replaceAll("\n", ", "), RECEIVERS.certificateNameLength);

/** From `DNS:a.example, IP Address:192.0.2.1`. Node quotes names that contain a comma or another special character. */
function hostNames(subjectAltName: string | undefined): string[] {
	const all = (subjectAltName ?? "").split(", ").filter((name) => /^(DNS|IP Address):/.test(name));
	return all
		.slice(0, RECEIVERS.certificateNames)
		.map((name) => inertText(name.slice(name.indexOf(":") + 1), RECEIVERS.certificateNameLength));
}

function timeOf(text: string): number | null {
	const at = Date.parse(text);
	return Number.isNaN(at) ? null : at;
}
