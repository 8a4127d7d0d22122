import { createSecret, secretDigest, sign, signingKey, signStandard, standardDigest } from "@posthorn/protocol";
import { expect, test } from "vitest";
import { Seal } from "../base/seal.ts";
import { openSigningKey, openStandardKey, sealSecret } from "./signing-keys.ts";

const seal = new Seal(Buffer.alloc(32, 1));
const body = Buffer.from("{}");

test("the keys of a sealed secret are those of its digests", () => {
	const secret = createSecret();
	const stored = { webhookId: "wh_1", ...sealSecret(seal, secret, "wh_1") };
	expect(sign(openSigningKey(seal, stored), 1, body)).toBe(sign(signingKey(secretDigest(secret)), 1, body));
	const standard = signStandard(signingKey(standardDigest(secret)), "evt_1", 1, body);
	expect(signStandard(openStandardKey(seal, stored)!, "evt_1", 1, body)).toBe(standard);
	expect(openStandardKey(seal, { ...stored, sealedStandardDigest: null })).toBeNull();
});

// During a rolling upgrade, a node of the previous version rotates only the first digest.
test("a second digest of an earlier secret signs nothing", () => {
	const [earlier, current] = [createSecret(), createSecret()].map((secret) => sealSecret(seal, secret, "wh_1"));
	const stored = { webhookId: "wh_1", ...current!, sealedStandardDigest: earlier!.sealedStandardDigest };
	expect(openStandardKey(seal, stored)).toBeNull();
});
