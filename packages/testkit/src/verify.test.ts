import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { verifyRequest } from "./verify.ts";

/**
 * Computed by `printf '1763696856.{"id":"evt_1"}' | openssl dgst -sha256 -mac HMAC -macopt hexkey:…` with the secret's
 * bytes in hexadecimal, and by Python's hmac module.
 */
const SECRET = `whsec_${"0123456789abcdef".repeat(4)}`;
const TIMESTAMP = 1763696856;
const BODY = '{"id":"evt_1"}';
const SIGNATURE = "e3bbacbe04763a24f5584724545df917277d97afa5b4d8386a6c8967508baab8";

const NOW = TIMESTAMP * 1000;
const headers = { "X-Service-Timestamp": String(TIMESTAMP), "X-Service-Signature": SIGNATURE };
const request = { secret: SECRET, headers, rawBody: Buffer.from(BODY), now: NOW };

test("accepts a request signed elsewhere, and returns its event", () => {
	expect(verifyRequest(request)).toEqual({ ok: true, event: { id: "evt_1" } });
});

test("header names are taken in any case and with the instance's brand", () => {
	const branded = { "x-acme-timestamp": String(TIMESTAMP), "X-ACME-Signature": SIGNATURE };
	expect(verifyRequest({ ...request, headers: branded, brand: "Acme" }).ok).toBe(true);
	expect(verifyRequest({ ...request, headers: branded })).toMatchObject({ status: 400 });
});

test("accepts OpenSSL's signatures for any secret and body", ({ skip }) => {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-verify-"));
	try {
		for (let round = 0; round < 5; round++) {
			const secret = `whsec_${randomBytes(32).toString("hex")}`;
			const rawBody = Buffer.from(
				JSON.stringify({ round, text: "ü😀\u0000", noise: randomBytes(300).toString("base64") }),
			);
			const file = join(folder, "signed");
			writeFileSync(file, Buffer.concat([Buffer.from(`${TIMESTAMP}.`), rawBody]));
			const signature = opensslHmac(secret, file);
			if (signature === null) return skip("openssl is not installed");
			const signed = { ...headers, "X-Service-Signature": signature };
			expect(verifyRequest({ secret, headers: signed, rawBody, now: NOW }).ok).toBe(true);
		}
	} finally {
		rmSync(folder, { recursive: true });
	}
});

test("returns 401 if any bit of the body, timestamp, secret or signature is flipped", () => {
	fc.assert(
		fc.property(fc.constantFrom("body", "secret", "signature"), fc.nat(), fc.nat({ max: 7 }), (where, at, bit) => {
			const turn = (bytes: Buffer): Buffer => {
				const turned = Buffer.from(bytes);
				turned[at % turned.length]! ^= 1 << bit;
				return turned;
			};
			const turned = {
				body: { rawBody: turn(request.rawBody) },
				secret: { secret: turn(Buffer.from(SECRET, "latin1")).toString("latin1") },
				signature: {
					headers: { ...headers, "X-Service-Signature": turn(Buffer.from(SIGNATURE, "hex")).toString("hex") },
				},
			}[where];
			expect(verifyRequest({ ...request, ...turned })).toMatchObject({ ok: false, status: 401 });
		}),
	);
	const later = { ...headers, "X-Service-Timestamp": String(TIMESTAMP + 1) };
	expect(verifyRequest({ ...request, headers: later })).toMatchObject({ ok: false, status: 401 });
});

test("accepts timestamps up to 300 s off, and returns 400 beyond, even with a wrong signature", () => {
	for (const off of [-300, 300]) expect(verifyRequest({ ...request, now: NOW + off * 1000 }).ok).toBe(true);
	for (const off of [-301, 301]) {
		const now = NOW + off * 1000;
		expect(verifyRequest({ ...request, now })).toMatchObject({ ok: false, status: 400 });
		expect(verifyRequest({ ...request, now, secret: "another" })).toMatchObject({ ok: false, status: 400 });
	}
});

test.for([undefined, "", "soon", "1763696856.0", "-1", "0x1", " 1763696856", ["1763696856", "1763696856"]])(
	"the timestamp %j is 400",
	(timestamp) => {
		const given = { ...headers, "X-Service-Timestamp": timestamp };
		expect(verifyRequest({ ...request, headers: given })).toMatchObject({ ok: false, status: 400 });
	},
);

test.for([undefined, "", SIGNATURE.toUpperCase(), SIGNATURE.slice(1), `${SIGNATURE}0`, [SIGNATURE, SIGNATURE]])(
	"the signature %j is 401",
	(signature) => {
		const given = { ...headers, "X-Service-Signature": signature };
		expect(verifyRequest({ ...request, headers: given })).toMatchObject({ ok: false, status: 401 });
	},
);

function opensslHmac(secret: string, file: string): string | null {
	const hexkey = `hexkey:${Buffer.from(secret).toString("hex")}`;
	try {
		const printed = execFileSync("openssl", ["dgst", "-sha256", "-mac", "HMAC", "-macopt", hexkey, file]).toString();
		return /[0-9a-f]{64}\s*$/.exec(printed)?.[0].trim() ?? printed;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
		throw error;
	}
}
