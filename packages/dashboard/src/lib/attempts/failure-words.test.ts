import { expect, it } from "vitest";
import { certificateFields, dnsWords, issuerName } from "./failure-words.ts";

const CERTIFICATE = {
	...{ subject: "CN=hooks.example.com", issuer: "C=US, O=Example Trust, CN=R1", names: ["a.example", "b.example"] },
	...{ valid_from: "2026-08-01T00:00:00.000Z", valid_to: null },
};

it("shows a certificate's parts", () => {
	expect(certificateFields(CERTIFICATE)).toEqual({
		"Issued to": "CN=hooks.example.com",
		"Issued by": "C=US, O=Example Trust, CN=R1",
		"For hosts": "a.example, b.example",
		"Valid from": "2026-08-01 00:00:00.000 UTC",
		"Valid to": "unknown",
	});
	const own = { ...CERTIFICATE, issuer: CERTIFICATE.subject, names: [] };
	expect(certificateFields(own)).toMatchObject({
		"Issued by": expect.stringContaining("self-signed"),
		"For hosts": "none",
	});
});

it("names the issuer in short", () => {
	expect(issuerName(CERTIFICATE)).toBe("R1");
	expect(issuerName({ ...CERTIFICATE, issuer: "C=US, O=Example Trust" })).toBe("Example Trust");
	expect(issuerName({ ...CERTIFICATE, issuer: "" })).toBe("an unknown authority");
});

it("has a sentence for every answer of name servers", () => {
	const codes = ["nxdomain", "no_address", "invalid_name", "servfail", "refused", "timeout", "unusable"];
	const sentences = [...codes, "only_private", "only_denied"].map(dnsWords);
	for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].*\.$/);
	expect(new Set([...sentences, dnsWords("to come")]).size).toBe(sentences.length + 1);
});
