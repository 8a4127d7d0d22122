import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { bits, boolean, commonName, octets, oid, pem, sequence, time, tlv } from "../../../../testkit/src/tls/der.ts";

/** A server's key and certificate, PEM. */
export interface Credentials {
	readonly key: string;
	readonly cert: string;
}

export interface Authority {
	/** PEM. */
	readonly cert: string;
	/**
	 * @param options.validFrom, options.validTo relative to now, milliseconds
	 * @param options.rsa with a 2,048-bit RSA key instead of one on P-256
	 */
	issue(options?: { names?: readonly string[]; validFrom?: number; validTo?: number; rsa?: boolean }): Credentials;
}

export const DAY_MS = 86_400_000;

/** A new, untrusted certificate authority (RFC 5280, with ECDSA on P-256). */
export function createAuthority(): Authority {
	// A unique name, since OpenSSL looks up issuers by name.
	const name = commonName(`Test authority ${randomBytes(8).toString("hex")}`);
	const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
	const basicConstraints = sequence(oid("55 1d 13"), boolean(true), octets(sequence(boolean(true))));
	const make = (subject: Buffer, key: KeyObject, validFrom: number, validTo: number, extension: Buffer): string => {
		const algorithm = sequence(oid("2a 86 48 ce 3d 04 03 02"));
		const certificate = sequence(
			tlv(0xa0, tlv(0x02, Buffer.from([2]))),
			tlv(0x02, Buffer.from([1]), randomBytes(15)),
			algorithm,
			name,
			sequence(time(Date.now() + validFrom), time(Date.now() + validTo)),
			subject,
			key.export({ type: "spki", format: "der" }),
			tlv(0xa3, sequence(extension)),
		);
		const signature = sign("sha256", certificate, own.privateKey);
		return pem(sequence(certificate, algorithm, bits(signature)));
	};
	return {
		cert: make(name, own.publicKey, -30 * DAY_MS, 30 * DAY_MS, basicConstraints),
		issue({ names = ["localhost"], validFrom = -DAY_MS, validTo = DAY_MS, rsa = false } = {}) {
			const keys = rsa
				? generateKeyPairSync("rsa", { modulusLength: 2_048 })
				: generateKeyPairSync("ec", { namedCurve: "P-256" });
			const alternatives = names.map((one) =>
				/^[\d.]+$/.test(one) ? tlv(0x87, Buffer.from(one.split(".").map(Number))) : tlv(0x82, Buffer.from(one)),
			);
			const subjectAltName = sequence(oid("55 1d 11"), octets(sequence(...alternatives)));
			const subject = commonName("Test receiver");
			return {
				cert: make(subject, keys.publicKey, validFrom, validTo, subjectAltName),
				key: keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
			};
		},
	};
}
