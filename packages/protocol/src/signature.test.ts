import { execFileSync, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
	createSecret,
	SECRET_PREFIX,
	secretDigest,
	sign,
	signingKey,
	signStandard,
	standardDigest,
} from "./signature.ts";
import { SIGNATURE_VECTORS } from "./vectors.ts";

const SECRET = /^whsec_[A-Za-z0-9+/]{88}$/;
/** 70 characters, as older versions created them. */
const OLDER_SECRET = /^whsec_[A-Za-z0-9]{64}$/;

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
const hasPython = spawnSync("python3", ["--version"]).status === 0;

function signWith(secret: string, timestamp: number | string, body: Uint8Array): string {
	return sign(signingKey(secretDigest(secret)), timestamp, body);
}

describe("createSecret", () => {
	it("creates the prefix and 66 bytes in base64, different ones each time", () => {
		const secrets = Array.from({ length: 100 }, () => createSecret());
		for (const secret of secrets) expect(secret).toMatch(SECRET);
		expect(new Set(secrets).size).toBe(secrets.length);
		expect(createSecret((size) => Buffer.alloc(size, 0xff))).toBe(SECRET_PREFIX + "/".repeat(88));
	});
});

describe("sign", () => {
	it("with the digest equals HMAC with the whole secret, for any body", () => {
		fc.assert(
			fc.property(fc.uint8Array({ maxLength: 500 }), fc.nat(), (body, timestamp) => {
				const secret = createSecret();
				const whole = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex");
				expect(signWith(secret, timestamp, body)).toBe(whole);
				expect(signWith(secret, String(timestamp), body)).toBe(whole);
			}),
		);
	});

	it("for Standard Webhooks equals HMAC with the bytes that the secret encodes, for any body", () => {
		fc.assert(
			fc.property(fc.uint8Array({ maxLength: 500 }), fc.nat(), (body, timestamp) => {
				const secret = createSecret();
				const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
				expect(key).toHaveLength(66);
				const whole = createHmac("sha256", key).update(`evt_1.${timestamp}.`).update(body).digest("base64");
				expect(signStandard(signingKey(standardDigest(secret)), "evt_1", timestamp, body)).toBe(whole);
			}),
		);
	});

	it.each([65_460, 65_461, 65_462, 300_000])(
		"signs a body of %i bytes, whether or not it fits the assembly buffer",
		(size) => {
			const secret = createSecret();
			const body = Buffer.alloc(size, "body ");
			const whole = createHmac("sha256", secret).update("1767225600.").update(body).digest("hex");
			expect(signWith(secret, 1_767_225_600, body)).toBe(whole);
			expect(signWith(secret, 1_767_225_600, body.subarray(1))).not.toBe(whole);
		},
	);

	it("signs with several keys in turn, independently of previous signatures", () => {
		const secrets = Array.from({ length: 5 }, () => createSecret());
		const keys = secrets.map((secret) => signingKey(secretDigest(secret)));
		for (let round = 0; round < 3; round++)
			for (const [i, key] of keys.entries()) {
				const body = Buffer.alloc(1_000 - 300 * round, String(i));
				const whole = createHmac("sha256", secrets[i]!).update(`${round}.`).update(body).digest("hex");
				expect(sign(key, round, body)).toBe(whole);
			}
	});

	it("doesn't reveal its key when printed", () => {
		const key = signingKey(Buffer.alloc(32, 7));
		expect(inspect(key, { showHidden: true, depth: null })).toBe("SigningKey {}");
		expect(JSON.stringify(key)).toBe("{}");
	});

	it("only accepts a SHA-256 digest as key", () => {
		for (const size of [0, 31, 33, 70]) expect(() => signingKey(new Uint8Array(size))).toThrow(RangeError);
	});
});

describe("signature vectors", () => {
	it("are well formed and differ", () => {
		expect(SIGNATURE_VECTORS.length).toBeGreaterThan(5);
		expect(new Set(SIGNATURE_VECTORS.map((vector) => vector.signature)).size).toBe(SIGNATURE_VECTORS.length);
		for (const vector of SIGNATURE_VECTORS) {
			expect(SECRET.test(vector.secret) || OLDER_SECRET.test(vector.secret)).toBe(true);
			expect(vector.timestamp).toMatch(/^\d+$/);
			expect(vector.signature).toMatch(/^[0-9a-f]{64}$/);
		}
	});

	it.each(SIGNATURE_VECTORS)("$name: our signature", ({ secret, timestamp, body, signature }) => {
		expect(signWith(secret, timestamp, Buffer.from(body))).toBe(signature);
	});

	it.each(SIGNATURE_VECTORS)("$name: node's HMAC with the whole secret", ({ secret, timestamp, body, signature }) => {
		expect(createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")).toBe(signature);
	});

	it.skipIf(!hasOpenssl).each(SIGNATURE_VECTORS)("$name: openssl with the whole secret", (vector) => {
		const input = `${vector.timestamp}.${vector.body}`;
		const hexKey = Buffer.from(vector.secret).toString("hex");
		for (const key of [`key:${vector.secret}`, `hexkey:${hexKey}`]) {
			const args = ["dgst", "-sha256", "-mac", "HMAC", "-macopt", key];
			const output = execFileSync("openssl", args, { input, encoding: "utf8" });
			expect(output.trim().split(/\s+/).at(-1)).toBe(vector.signature);
		}
	});

	it.skipIf(!hasPython)("all: Python's hmac with the whole secret, using only the JSON file", () => {
		const program = `
import hashlib, hmac, json, sys
vectors = json.load(open(sys.argv[1], encoding="utf-8"))["vectors"]
sign = lambda v: hmac.new(v["secret"].encode(), (v["timestamp"] + "." + v["body"]).encode(), hashlib.sha256).hexdigest()
print(json.dumps([sign(v) for v in vectors]))`;
		const file = fileURLToPath(new URL("./vectors.json", import.meta.url));
		const output: unknown = JSON.parse(execFileSync("python3", ["-c", program, file], { encoding: "utf8" }));
		expect(output).toEqual(SIGNATURE_VECTORS.map((vector) => vector.signature));
	});
});
