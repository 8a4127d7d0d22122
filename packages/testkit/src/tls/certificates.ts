import "reflect-metadata";
import { randomBytes, webcrypto } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as x509 from "@peculiar/x509";

const DAY_MS = 86_400_000;
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const LOOPBACK = ["localhost", "127.0.0.1", "::1"] as const;

/** A server's certificate and its private key, PEM. */
export interface Credentials {
	readonly cert: string;
	readonly key: string;
}

export interface IssueOptions {
	/** DNS names and IP literals. By default, loopback's. */
	readonly hosts?: readonly string[];
	/** By default, a day ago. */
	readonly notBefore?: Date;
	/** By default, in 30 days. */
	readonly notAfter?: Date;
}

/** A certificate authority that only clients with its certificate trust. */
export interface Authority {
	/** The authority's own certificate, PEM. */
	readonly pem: string;
	issue(options?: IssueOptions): Promise<Credentials>;
}

/** Creates an authority: ECDSA on P-256, X.509 version 3 (RFC 5280). */
export async function createAuthority(
	name = `Posthorn test authority ${randomBytes(6).toString("hex")}`,
): Promise<Authority> {
	const keys = await makeKeys();
	const issuer = commonName(name);
	const certificate = await x509.X509CertificateGenerator.create({
		serialNumber: serialNumber(),
		subject: issuer,
		issuer,
		...validity({}),
		publicKey: keys.publicKey,
		signingKey: keys.privateKey,
		signingAlgorithm: ALGORITHM,
		extensions: [
			new x509.BasicConstraintsExtension(true, 0, true),
			new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
			await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
		],
	});
	return {
		pem: `${certificate.toString("pem")}\n`,
		issue: async (options = {}) => await makeLeaf(await makeKeys(), { name: issuer, keys }, options),
	};
}

/** A self-signed server certificate, which no client trusts. */
export async function issueSelfSigned(options: IssueOptions = {}): Promise<Credentials> {
	const keys = await makeKeys();
	return await makeLeaf(keys, { name: commonName("Self-signed receiver"), keys }, options, "Self-signed receiver");
}

/** A certificate that expired yesterday. */
export async function issueExpired(authority: Authority, options: IssueOptions = {}): Promise<Credentials> {
	const now = Date.now();
	return await authority.issue({
		...options,
		notBefore: new Date(now - 10 * DAY_MS),
		notAfter: new Date(now - DAY_MS),
	});
}

/** A certificate, otherwise valid, for a host that no test uses. */
export async function issueForWrongHost(authority: Authority, options: IssueOptions = {}): Promise<Credentials> {
	return await authority.issue({ ...options, hosts: ["elsewhere.example"] });
}

/**
 * Writes the authority's certificate to a file for `POSTHORN_EGRESS_CA_FILE`; a folder created here is removed at exit.
 */
export function writeCaFile(authority: Pick<Authority, "pem">, folder: string = temporaryFolder()): string {
	const path = join(folder, `ca-${randomBytes(6).toString("hex")}.pem`);
	writeFileSync(path, authority.pem);
	return path;
}

interface Issuer {
	readonly name: string;
	readonly keys: webcrypto.CryptoKeyPair;
}

async function makeLeaf(
	keys: webcrypto.CryptoKeyPair,
	issuer: Issuer,
	options: IssueOptions,
	subject = "Test receiver",
): Promise<Credentials> {
	const hosts = options.hosts ?? LOOPBACK;
	const certificate = await x509.X509CertificateGenerator.create({
		serialNumber: serialNumber(),
		subject: commonName(subject),
		issuer: issuer.name,
		...validity(options),
		publicKey: keys.publicKey,
		signingKey: issuer.keys.privateKey,
		signingAlgorithm: ALGORITHM,
		extensions: [
			new x509.BasicConstraintsExtension(false, undefined, true),
			new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
			new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
			new x509.SubjectAlternativeNameExtension(
				hosts.map((host) => ({ type: isIP(host) === 0 ? x509.DNS : x509.IP, value: host })),
			),
			await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
			await x509.AuthorityKeyIdentifierExtension.create(issuer.keys.publicKey),
		],
	});
	const key = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey));
	return {
		cert: `${certificate.toString("pem")}\n`,
		key: `${x509.PemConverter.encode(key, x509.PemConverter.PrivateKeyTag)}\n`,
	};
}

async function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
	return await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

const commonName = (value: string): string => `CN=${value}`;

/** Positive and without a leading zero octet, as DER requires. */
const serialNumber = (): string => `1${randomBytes(15).toString("hex").slice(1)}`;

function validity({ notBefore, notAfter }: IssueOptions): { notBefore: Date; notAfter: Date } {
	const now = Date.now();
	return { notBefore: notBefore ?? new Date(now - DAY_MS), notAfter: notAfter ?? new Date(now + 30 * DAY_MS) };
}

let ownFolder: string | undefined;

function temporaryFolder(): string {
	if (ownFolder === undefined) {
		const folder = mkdtempSync(join(tmpdir(), "posthorn-testkit-"));
		process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
		ownFolder = folder;
	}
	return ownFolder;
}
