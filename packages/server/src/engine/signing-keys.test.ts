import { createSecret, secretDigest, sign, signingKey, signStandard, standardDigest } from "@posthorn/protocol";
import { expect, test, vi } from "vitest";
import { Seal } from "../base/seal.ts";
import { resealSecret, SigningKeys, sealLostSecret, sealSecret, secretStateOf } from "./signing-keys.ts";

const seal = new Seal([Buffer.alloc(32, 1)]);
const body = Buffer.from("{}");

function setUp() {
	const [warn, error] = [vi.fn(), vi.fn()];
	return { warn, error, keys: new SigningKeys(seal, { warn, error }) };
}

test("the keys of a sealed secret are those of its digests", () => {
	const { keys, warn } = setUp();
	const secret = createSecret();
	const stored = { webhookId: "wh_1", ...sealSecret(seal, secret, "wh_1") };
	expect(secretStateOf(seal, stored)).toBe("usable");
	expect(sign(keys.open(stored)!, 1, body)).toBe(sign(signingKey(secretDigest(secret)), 1, body));
	const standard = signStandard(signingKey(standardDigest(secret)), "evt_1", 1, body);
	expect(signStandard(keys.openStandard(stored)!, "evt_1", 1, body)).toBe(standard);
	expect(keys.openStandard({ ...stored, sealedStandardDigest: null })).toBeNull();
	expect(warn).not.toHaveBeenCalled();
});

test("a secret that no key opens signs nothing, which is logged once per webhook until it is rotated", () => {
	const { keys, warn, error } = setUp();
	const other = new Seal([Buffer.alloc(32, 2)]);
	const unreadable = { webhookId: "wh_1", ...sealSecret(other, createSecret(), "wh_1") };
	expect(secretStateOf(seal, unreadable)).toBe("unreadable");
	for (let n = 0; n < 2; n++) expect([keys.open(unreadable), keys.openStandard(unreadable)]).toEqual([null, null]);
	const line = [{ webhookId: "wh_1", err: expect.any(Error) }, expect.stringMatching(/restore the key .*, or rotate/)];
	expect(error.mock.calls).toEqual([line]);
	expect(keys.open({ webhookId: "wh_1", ...sealSecret(seal, createSecret(), "wh_1") })).not.toBeNull();
	expect(keys.open(unreadable)).toBeNull();
	expect(error).toHaveBeenCalledTimes(2);
	expect(warn).not.toHaveBeenCalled();
});

test("a secret that was given up signs nothing, even once it is sealed with another key", () => {
	const { keys, warn, error } = setUp();
	const stored = { webhookId: "wh_1", ...sealLostSecret(seal, "wh_1") };
	expect(secretStateOf(seal, stored)).toBe("lost");
	expect([keys.open(stored), keys.openStandard(stored)]).toEqual([null, null]);
	const again = resealSecret(new Seal([Buffer.alloc(32, 2), Buffer.alloc(32, 1)]), stored)!;
	expect(secretStateOf(new Seal([Buffer.alloc(32, 2)]), { webhookId: "wh_1", ...again })).toBe("lost");
	expect([warn, error].flatMap(({ mock }) => mock.calls)).toEqual([]);
});

// During a rolling upgrade, a node of the previous version rotates only the first digest.
test("a second digest of an earlier secret signs nothing, which is logged once per webhook until it is rotated again", () => {
	const { keys, warn } = setUp();
	const [earlier, current] = [createSecret(), createSecret()];
	const outdated = (webhookId: string) => ({
		webhookId,
		...sealSecret(seal, current, webhookId),
		sealedStandardDigest: sealSecret(seal, earlier, webhookId).sealedStandardDigest,
	});
	for (const id of ["wh_1", "wh_1", "wh_2", "wh_1"]) expect(keys.openStandard(outdated(id))).toBeNull();
	expect(warn.mock.calls).toEqual([
		[{ webhookId: "wh_1" }, expect.stringContaining("rotate it again")],
		[{ webhookId: "wh_2" }, expect.stringContaining("rotate it again")],
	]);
	expect(keys.openStandard({ webhookId: "wh_1", ...sealSecret(seal, current, "wh_1") })).not.toBeNull();
	expect(keys.openStandard(outdated("wh_1"))).toBeNull();
	expect(warn).toHaveBeenCalledTimes(3);
});

test("a secret that is sealed again with another key stays the same, without a second digest of an earlier one", () => {
	const both = new Seal([Buffer.alloc(32, 2), Buffer.alloc(32, 1)]);
	const { keys } = setUp();
	const next = new SigningKeys(new Seal([Buffer.alloc(32, 2)]), { warn: vi.fn(), error: vi.fn() });
	const secret = createSecret();
	const stored = { webhookId: "wh_1", ...sealSecret(seal, secret, "wh_1") };
	const again = { webhookId: "wh_1", ...resealSecret(both, stored)! };
	expect(sign(next.open(again)!, 1, body)).toBe(sign(keys.open(stored)!, 1, body));
	const standard = signStandard(keys.openStandard(stored)!, "evt_1", 1, body);
	expect(signStandard(next.openStandard(again)!, "evt_1", 1, body)).toBe(standard);
	expect(resealSecret(both, again)).toBeNull();
	const { sealedStandardDigest } = sealSecret(seal, createSecret(), "wh_1");
	expect(resealSecret(both, { ...stored, sealedStandardDigest })).toMatchObject({ sealedStandardDigest: null });
	expect(() => resealSecret(new Seal([Buffer.alloc(32, 3)]), stored)).toThrow();
});
