import { expect, test } from "vitest";
import { diagnose } from "./diagnose.ts";

// It looked for the mistake up to three times, which for a large body blocked the node three times as long.
test.each(["0".repeat(64), Buffer.alloc(32).toString("base64")])("makes no check twice for %s", (signature) => {
	const sent = {
		brand: "Service",
		timestamp: 1_795_514_462,
		signature: "1".repeat(64),
		standardSignature: "x".repeat(43),
	};
	const signatures = [sent.signature, Buffer.from(sent.standardSignature, "base64").toString("hex")];
	const made: string[] = [];
	const check = (name: string) => (head: string, body: Uint8Array, given: string) => {
		made.push(`${name} ${head} ${Buffer.from(body).toString("hex")} ${given}`);
		return signatures.includes(given);
	};
	const request = { eventId: "evt_1", sent, body: Buffer.from('{"id":"evt_1"}') };
	const checks = { own: check("own"), standard: check("standard") };
	expect(diagnose(request, checks, { signature }).map(({ code }) => code)).toContain("signature_other");
	const repeated = made.filter((one, i) => made.indexOf(one) < i);
	// The secret decoded for our own scheme, and the id missing in the other one, are the same mistake.
	expect(repeated).toEqual([expect.stringMatching(/^standard 1795514462\. /)]);
});
