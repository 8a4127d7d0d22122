import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import type { Credentials } from "./certificates.ts";
import { bits, boolean, commonName, octets, oid, pem, sequence, time, tlv } from "./der.ts";

const DAY_MS = 86_400_000;
/** A curve on which checking a signature takes milliseconds, where P-256 takes a tenth of one. */
const CURVE = "sect571r1";
const ECDSA_WITH_SHA256 = sequence(oid("2a 86 48 ce 3d 04 03 02"));

/**
 * A certificate for localhost with a chain of authorities, all of them expensive to check. The last one's issuer is
 * missing, so no client trusts it, but clients find that out only after they have checked the rest.
 *
 * @param length number of certificates
 */
export function createCostlyChain(length: number): Credentials {
	const chain = randomBytes(8).toString("hex");
	const name = (index: number): Buffer => commonName(`Costly chain ${chain} ${index}`);
	// All have the same key, which makes them quicker to create, but not to check.
	const authority = generateKeyPairSync("ec", { namedCurve: CURVE });
	const leaf = generateKeyPairSync("ec", { namedCurve: "P-256" });
	const isAuthority = sequence(oid("55 1d 13"), boolean(true), octets(sequence(boolean(true))));
	const forLocalhost = sequence(oid("55 1d 11"), octets(sequence(tlv(0x82, Buffer.from("localhost")))));
	const certificates = Array.from({ length }, (_, index) =>
		certificate({
			subject: name(index),
			issuer: name(index + 1),
			publicKey: index === 0 ? leaf.publicKey : authority.publicKey,
			extension: index === 0 ? forLocalhost : isAuthority,
			signingKey: authority.privateKey,
		}),
	);
	return { cert: certificates.join(""), key: leaf.privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
}

interface Contents {
	readonly subject: Buffer;
	readonly issuer: Buffer;
	readonly publicKey: KeyObject;
	readonly extension: Buffer;
	readonly signingKey: KeyObject;
}

/** RFC 5280, 4.1. */
function certificate({ subject, issuer, publicKey, extension, signingKey }: Contents): string {
	const contents = sequence(
		tlv(0xa0, tlv(0x02, Buffer.from([2]))),
		tlv(0x02, Buffer.from([1]), randomBytes(15)),
		ECDSA_WITH_SHA256,
		issuer,
		sequence(time(Date.now() - DAY_MS), time(Date.now() + DAY_MS)),
		subject,
		publicKey.export({ type: "spki", format: "der" }),
		tlv(0xa3, sequence(extension)),
	);
	return pem(sequence(contents, ECDSA_WITH_SHA256, bits(sign("sha256", contents, signingKey))));
}
