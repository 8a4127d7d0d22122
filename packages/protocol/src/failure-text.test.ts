import { expect, it } from "vitest";
import { certificateFields, dnsText } from "./failure-text.ts";

it("shows a certificate's parts", () => {
	const certificate = {
		...{ subject: "CN=hooks.example.com", issuer: "C=US, O=Example Trust, CN=R1", names: ["a.example", "b.example"] },
		...{ valid_from: "2026-08-01T00:00:00.000Z", valid_to: null },
	};
	expect(certificateFields(certificate)).toEqual({
		"Issued to": "CN=hooks.example.com",
		"Issued by": "C=US, O=Example Trust, CN=R1",
		"For hosts": "a.example, b.example",
		"Valid from": "2026-08-01 00:00:00 UTC",
		"Valid to": "unknown",
	});
	expect(certificateFields({ ...certificate, issuer: certificate.subject, names: [] })).toMatchObject({
		"Issued by": expect.stringContaining("self-signed"),
		"For hosts": "none",
	});
});

it("has a sentence for every answer of name servers", () => {
	const codes = ["nxdomain", "no_address", "invalid_name", "servfail", "refused", "timeout", "unusable"];
	const sentences = [...codes, "only_private", "only_denied"].map(dnsText);
	for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].*\.$/);
	expect(new Set([...sentences, dnsText("to come")]).size).toBe(sentences.length + 1);
});
