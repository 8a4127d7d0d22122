import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, get } from "node:https";
import type { AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import {
	type Authority,
	type Credentials,
	createAuthority,
	issueExpired,
	issueForWrongHost,
	issueSelfSigned,
	writeCaFile,
} from "./certificates.ts";

const folder = mkdtempSync(join(tmpdir(), "posthorn-certificates-"));
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * The result of Node's own client, which only trusts `ca`, with a server that uses these credentials: a body or an
 * error code.
 */
async function fetchFrom(credentials: Credentials, ca: string, host: string): Promise<string> {
	const listenOn = host === "::1" ? "::1" : "127.0.0.1";
	const server = createServer(credentials, (_request, response) => response.end("hello")).listen(0, listenOn);
	await once(server, "listening");
	const { port } = server.address() as AddressInfo;
	try {
		return await new Promise<string>((resolve) => {
			const options = { host, port, ca, agent: false, family: listenOn === "::1" ? 6 : 4 };
			get(options, (response) => response.setEncoding("utf8").on("data", resolve)).on(
				"error",
				(error: NodeJS.ErrnoException) => resolve(error.code ?? error.message),
			);
		});
	} finally {
		server.closeAllConnections();
		server.close();
		await once(server, "close");
	}
}

/** Some containers have no IPv6. */
const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));

const LOOPBACK = ["localhost", "127.0.0.1", ...(hasIpv6 ? ["::1"] : [])];

test.for(LOOPBACK)("Node's client accepts a leaf at %s", async (host) => {
	const authority = await createAuthority();
	expect(await fetchFrom(await authority.issue(), authority.pem, host)).toBe("hello");
});

test.for<[string, (authority: Authority) => Promise<Credentials>, string]>([
	["an expired leaf", issueExpired, "CERT_HAS_EXPIRED"],
	["a leaf for another host", issueForWrongHost, "ERR_TLS_CERT_ALTNAME_INVALID"],
	["a self-signed leaf", () => issueSelfSigned(), "DEPTH_ZERO_SELF_SIGNED_CERT"],
	["a leaf of another authority", async () => (await createAuthority()).issue(), "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
	["a leaf not yet valid", (ca) => ca.issue({ notBefore: new Date(Date.now() + 3_600_000) }), "CERT_NOT_YET_VALID"],
	["a leaf for the name only, by address", (ca) => ca.issue({ hosts: ["localhost"] }), "ERR_TLS_CERT_ALTNAME_INVALID"],
])("Node's client rejects %s", async ([, issue, code]) => {
	const authority = await createAuthority();
	const host = code === "ERR_TLS_CERT_ALTNAME_INVALID" ? "127.0.0.1" : "localhost";
	expect(await fetchFrom(await issue(authority), authority.pem, host)).toBe(code);
});

test("distinguishes authorities with the same name", async () => {
	const one = await createAuthority("Same name");
	const other = await createAuthority("Same name");
	expect(await fetchFrom(await one.issue(), other.pem + one.pem, "localhost")).toBe("hello");
	expect(await fetchFrom(await one.issue(), other.pem, "localhost")).not.toBe("hello");
});

test("certificates have the fields that RFC 5280 requires", async () => {
	const authority = await createAuthority();
	const ca = new X509Certificate(authority.pem);
	const { cert } = await authority.issue({ hosts: ["shop.example", "10.0.0.1", "2001:db8::1"] });
	const leaf = new X509Certificate(cert);
	expect(ca.ca).toBe(true);
	expect(leaf.ca).toBe(false);
	expect(leaf.checkIssued(ca)).toBe(true);
	expect(leaf.verify(ca.publicKey)).toBe(true);
	expect(leaf.subjectAltName).toBe("DNS:shop.example, IP Address:10.0.0.1, IP Address:2001:DB8:0:0:0:0:0:1");
	expect(leaf.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
});

test("openssl verifies the chain strictly", async ({ skip }) => {
	if (!opensslVersion()) skip("openssl is not installed");
	const authority = await createAuthority();
	const ca = writeCaFile(authority, folder);
	const leaf = writeCaFile({ pem: (await authority.issue()).cert }, folder);
	const verdict = execFileSync("openssl", ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", ca, leaf]);
	expect(verdict.toString()).toContain(": OK");
});

test("the file for POSTHORN_EGRESS_CA_FILE holds the authority's certificate", async () => {
	const authority = await createAuthority();
	expect(await readFile(writeCaFile(authority, folder), "utf8")).toBe(authority.pem);
});

function opensslVersion(): string | null {
	try {
		return execFileSync("openssl", ["version"]).toString();
	} catch {
		return null; // not installed
	}
}
