import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import tls, { connect, type DetailedPeerCertificate, TLSSocket, type TlsOptions } from "node:tls";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RECEIVERS } from "../../base/budgets.ts";
import { systemClock } from "../../base/clock.ts";
import { createHttpSender, type HttpSenderOptions } from "../../engine/send/http-sender.ts";
import { reasonText, type Unanswered } from "../../engine/send/outcome.ts";
import { answered, Receiver, shipment } from "../../engine/send/receiver.fixture.ts";
import { makeHandshakes } from "../../engine/send/rig.fixture.ts";
import { createGuard } from "../egress.ts";
import type { Resolver } from "../resolver.ts";
import type { ConnectOptions } from "../socket.ts";
import { type Credentials, createAuthority, DAY_MS } from "./credentials.fixture.ts";
import { TlsConnector, TlsSessions, validUntil } from "./tls.ts";

const authority = createAuthority();
const trusted = authority.issue();
const untrusted: Record<string, Credentials> = {
	tls_untrusted: createAuthority().issue(),
	tls_expired: authority.issue({ validFrom: -2 * DAY_MS, validTo: -DAY_MS }),
	tls_wrong_host: authority.issue({ names: ["elsewhere.example"] }),
};
const cleanups: (() => Promise<void>)[] = [];
let lookups: string[];
let faults: unknown[];

beforeEach(() => {
	lookups = [];
	faults = [];
});

afterEach(async () => {
	for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
	expect(faults).toEqual([]);
});

// Each connection that waited for a response kept up to 64 KB of it.
test("a connection keeps none of the pool that Node's small buffers share", () => {
	let options: ConnectOptions | undefined;
	const connector = new TlsConnector(systemClock, (given) => {
		options = given;
		throw new Error("not connected");
	});
	const target = { host: "a.example:443", hostname: "a.example", port: 443, address: "127.0.0.1", metering: undefined };
	const ignored = { received: () => true, presented: () => {}, verified: () => {}, flooded: () => {} };
	expect(() => connector.connect({ ...target, ...ignored })).toThrow("not connected");
	// What Node's `connect` does with the option; its types leave it out.
	const { convertALPNProtocols } = tls as unknown as { convertALPNProtocols(protocols: unknown, to: object): void };
	const kept: { ALPNProtocols?: Uint8Array } = {};
	convertALPNProtocols(options!.ALPNProtocols, kept);
	expect(Buffer.from(kept.ALPNProtocols!).toString("latin1")).toBe("\bhttp/1.1");
	expect(kept.ALPNProtocols!.buffer.byteLength).toBe(9);
});

/** Resolves every name to this machine. */
const resolver: Resolver = {
	async lookup(hostname) {
		lookups.push(hostname);
		return ["127.0.0.1"];
	},
};

function makeSender(options: Partial<HttpSenderOptions> = {}) {
	const sender = createHttpSender({
		clock: systemClock,
		random: Math.random,
		guard: createGuard({ allow: ["127.0.0.0/8"] }),
		resolver,
		brand: "Service",
		timeoutMs: 10_000,
		extraCa: authority.cert,
		handshakes: makeHandshakes(),
		onFault: (error) => faults.push(error),
		...options,
	});
	cleanups.push(() => sender.close());
	return sender;
}

async function listen(credentials: ConstructorParameters<typeof Receiver>[0]): Promise<Receiver> {
	const receiver = await new Receiver(credentials, answered(200, "ok")).listen();
	cleanups.push(() => receiver.close());
	return receiver;
}

const withoutVerification = async (run: () => Promise<void>): Promise<void> => {
	const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
	process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
	try {
		await run();
	} finally {
		if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
		else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
	}
};

describe("certificates", () => {
	test("one that is rejected is reported with its names and dates, and no other", async () => {
		for (const [reason, credentials] of Object.entries(untrusted))
			for (const random of [0, 1]) {
				const receiver = await listen(credentials);
				const sender = makeSender({ handshakes: makeHandshakes({ random: () => random }) });
				const certificate = new X509Certificate(credentials.cert);
				expect(await sender.send(shipment(receiver.url()))).toMatchObject({
					reason,
					details: {
						certificate: {
							subject: "CN=Test receiver",
							issuer: certificate.issuer,
							names: [reason === "tls_wrong_host" ? "elsewhere.example" : "localhost"],
							validFrom: Date.parse(certificate.validFrom),
							validTo: Date.parse(certificate.validTo),
						},
					},
				});
			}
		const outcome = await makeSender().send(shipment("https://localhost:1/"));
		expect(outcome).toMatchObject({ reason: "connection_refused", details: null });
	});

	// On Node 24.15, every delivery failed as tls_wrong_host: the check got a certificate without names.
	test("what is read before the check doesn't hide it from the check", async () => {
		const { getPeerCertificate, getPeerX509Certificate } = TLSSocket.prototype;
		const read = new WeakSet<TLSSocket>();
		const spies = [
			vi.spyOn(TLSSocket.prototype, "getPeerX509Certificate").mockImplementation(function (this: TLSSocket) {
				read.add(this);
				return getPeerX509Certificate.call(this);
			}),
			vi.spyOn(TLSSocket.prototype, "getPeerCertificate").mockImplementation(function (this: TLSSocket) {
				return read.has(this) ? ({} as DetailedPeerCertificate) : getPeerCertificate.call(this, true);
			}),
		];
		try {
			const receiver = await listen(trusted);
			for (const random of [0, 1]) {
				const sender = makeSender({ handshakes: makeHandshakes({ random: () => random }) });
				expect(await sender.send(shipment(receiver.url()))).toMatchObject({ kind: "answered", status: 200 });
			}
			expect(spies[1]).toHaveBeenCalled();
		} finally {
			for (const spy of spies) spy.mockRestore();
		}
	});

	// The facts of the other one were shown.
	test("what it is for is shown even if it contains another one", async () => {
		const inner = authority.issue({ names: ["inner.example"] }).cert;
		const receiver = await listen(createAuthority().issue({ names: ["localhost", `\n${inner}\n`] }));
		const outcome = await makeSender().send(shipment(receiver.url()));
		const names = expect.arrayContaining(["localhost"]);
		expect(outcome).toMatchObject({ reason: "tls_untrusted", details: { certificate: { names } } });
	});

	test("its names are bounded, and shown harmlessly", async () => {
		const names = Array.from({ length: 50 }, (_, i) => `${"long-".repeat(11)}${i}.${"a.".repeat(40)}example`);
		const receiver = await listen(authority.issue({ names: ["a\u001b[31m.example", ...names] }));
		const outcome = await makeSender().send(shipment(receiver.url()));
		const { certificate } = (outcome as Unanswered).details!;
		expect(certificate!.names).toHaveLength(RECEIVERS.certificateNames);
		for (const name of certificate!.names) {
			expect(name.length).toBeLessThanOrEqual(RECEIVERS.certificateNameLength);
			expect(name).not.toMatch(/\p{C}/u);
		}
	});

	for (const [reason, credentials] of Object.entries(untrusted)) {
		test(`${reason}: nothing is sent`, async () => {
			const receiver = await listen(credentials);
			expect(await makeSender().send(shipment(receiver.url()))).toMatchObject({ kind: "unanswered", reason });
			expect(receiver.requests).toHaveLength(0);
			await receiver.allClosed();
		});

		test(`${reason}: nor with NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment`, async () => {
			const receiver = await listen(credentials);
			await withoutVerification(async () => {
				const careless = connect({ port: receiver.port, host: "127.0.0.1" });
				await once(careless, "secureConnect");
				careless.destroy();
				expect(await makeSender().send(shipment(receiver.url()))).toMatchObject({ kind: "unanswered", reason });
			});
			expect(receiver.requests).toHaveLength(0);
		});
	}

	test("rejects one that is not valid yet", async () => {
		const receiver = await listen(authority.issue({ validFrom: DAY_MS, validTo: 2 * DAY_MS }));
		expect(await makeSender().send(shipment(receiver.url()))).toMatchObject({ reason: "tls_expired" });
	});

	test("trusts an additional authority only if it is configured", async () => {
		const receiver = await listen(trusted);
		const plain = makeSender({ extraCa: createAuthority().cert });
		expect(await plain.send(shipment(receiver.url()))).toMatchObject({ reason: "tls_untrusted" });
		expect(await makeSender().send(shipment(receiver.url()))).toMatchObject({ kind: "answered" });
		const both = makeSender({ extraCa: `${createAuthority().cert}${authority.cert}` });
		expect(await both.send(shipment(receiver.url()))).toMatchObject({ kind: "answered" });
	});

	test("the certificate must list an address in the URL as an address", async () => {
		const receiver = await listen(trusted);
		expect(await makeSender().send(shipment(receiver.url("/", "127.0.0.1")))).toMatchObject({
			reason: "tls_wrong_host",
		});
	});
});

describe("handshakes", () => {
	test("refuses TLS 1.1, even if the process would allow it", async () => {
		const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
		const receiver = await listen({ ...trusted, ...old });
		const { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS } = tls;
		tls.DEFAULT_MIN_VERSION = "TLSv1";
		tls.DEFAULT_CIPHERS = "DEFAULT@SECLEVEL=0";
		try {
			const lenient = connect({ port: receiver.port, host: "127.0.0.1", ca: authority.cert, servername: "localhost" });
			await once(lenient, "secureConnect");
			expect(lenient.getProtocol()).toBe("TLSv1.1");
			lenient.destroy();
			expect(await makeSender().send(shipment(receiver.url()))).toMatchObject({ reason: "tls_failed" });
		} finally {
			tls.DEFAULT_MIN_VERSION = DEFAULT_MIN_VERSION;
			tls.DEFAULT_CIPHERS = DEFAULT_CIPHERS;
		}
	});

	test("refuses finite-field Diffie-Hellman, in which the receiver chooses the numbers", async () => {
		const ciphers = "DHE-RSA-AES128-GCM-SHA256";
		const receiver = await listen({
			...authority.issue({ rsa: true }),
			maxVersion: "TLSv1.2",
			ciphers,
			dhparam: "auto",
		});
		const lenient = connect({ port: receiver.port, host: "127.0.0.1", ca: authority.cert, servername: "localhost" });
		await once(lenient, "secureConnect");
		expect(lenient.getCipher().name).toBe(ciphers);
		lenient.destroy();
		expect(await makeSender().send(shipment(receiver.url()))).toMatchObject({ reason: "tls_failed" });
	});

	test("a receiver can't start another handshake on a connection", async () => {
		const receiver = await listen({ ...trusted, maxVersion: "TLSv1.2" });
		const ends: (Error | null)[] = [];
		const lenient = connect({ port: receiver.port, host: "127.0.0.1", ca: authority.cert, servername: "localhost" });
		await once(lenient, "secureConnect");
		await new Promise<void>((resolve) => {
			receiver.sockets[0]!.renegotiate({}, (end) => {
				ends.push(end);
				resolve();
			});
		});
		expect(ends).toEqual([null]);
		lenient.destroy();
		const refused = new Promise((resolve) => {
			receiver.answer = (socket) => {
				socket.on("error", resolve);
				socket.renegotiate({}, () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
			};
		});
		expect(await makeSender().send(shipment(receiver.url()))).toMatchObject({ kind: "unanswered" });
		expect(await refused).toMatchObject({ code: "ERR_SSL_NO_RENEGOTIATION" });
	});

	// The advice was only to check the TLS version, which was right.
	test.each<[string, TlsOptions]>([
		["speaks only HTTP/2", { ALPNProtocols: ["h2"] }],
		["requires a client certificate", { requestCert: true, rejectUnauthorized: true }],
	])("a receiver that %s fails with a reason that mentions it", async (_, options) => {
		const receiver = await listen({ ...trusted, ...options });
		expect(await makeSender().send(shipment(receiver.url()))).toMatchObject({ reason: "tls_failed" });
		expect(reasonText("tls_failed")).toMatch(
			/speaks TLS 1\.2 or later and HTTP\/1\.1 .*requires no client certificate/,
		);
	});

	test("accepts TLS 1.2", async () => {
		const receiver = await listen({ ...trusted, maxVersion: "TLSv1.2" });
		expect(await makeSender().send(shipment(receiver.url()))).toMatchObject({ kind: "answered", status: 200 });
	});

	test.each<[string, string, string]>([
		["plain HTTP", "HTTP/1.1 400 Bad Request\r\n\r\n", "tls_failed"],
		["nothing, then closes", "", "connection_reset"],
	])("a port that speaks %s", async (_, text, reason) => {
		const server = createServer((socket) => {
			socket.on("error", () => socket.destroy());
			socket.once("data", () => socket.end(text));
		}).listen(0, "127.0.0.1");
		await once(server, "listening");
		cleanups.push(async () => {
			server.close();
			await once(server, "close");
		});
		const address = server.address();
		if (address === null || typeof address === "string") throw new Error("no port");
		expect(await makeSender().send(shipment(`https://localhost:${address.port}/`))).toMatchObject({
			kind: "unanswered",
			reason,
			request: null,
		});
	});

	test.each([
		["metered", 0],
		["unmetered", 1],
	])("resumes a session on the next connection to the same host and port, %s", async (_, chance) => {
		const receiver = await listen(trusted);
		const reused: boolean[] = [];
		receiver.answer = (socket, request) => {
			reused.push(socket.isSessionReused());
			answered(200, "ok", "connection: close\r\n")(socket, request);
		};
		const sender = makeSender({ handshakes: makeHandshakes({ random: () => chance }) });
		for (let i = 0; i < 3; i++)
			expect(await sender.send(shipment(receiver.url()))).toMatchObject({ kind: "answered", status: 200 });
		expect(reused).toEqual([false, true, true]);
	});
});

describe("a session", () => {
	test.each(["TLSv1.2", "TLSv1.3"] as const)("is not resumed once a certificate has expired, %s", async (version) => {
		const receiver = await listen({ ...authority.issue({ validTo: DAY_MS }), maxVersion: version });
		const reused: boolean[] = [];
		receiver.answer = (socket, request) => {
			reused.push(socket.isSessionReused());
			answered(200, "ok", "connection: close\r\n")(socket, request);
		};
		let later = 0;
		const sender = makeSender({ clock: { ...systemClock, now: () => Date.now() + later } });
		// The second connection renews the first one's session, which doesn't extend its life.
		for (const ms of [0, DAY_MS - 60_000, DAY_MS + 60_000]) {
			later = ms;
			expect(await sender.send(shipment(receiver.url()))).toMatchObject({ kind: "answered" });
		}
		expect(reused).toEqual([false, true, false]);
	});

	// A busy connection could have outlived its receiver's certificate by days.
	test.each([
		["metered", 0],
		["unmetered", 1],
	])("or a connection isn't used once the certificate has expired, %s", async (_, chance) => {
		const receiver = await listen(authority.issue({ validTo: DAY_MS }));
		receiver.answer = answered(200, "ok");
		let later = 0;
		const clock = { ...systemClock, now: () => Date.now() + later };
		const sender = makeSender({ clock, handshakes: makeHandshakes({ random: () => chance }) });
		const connections: number[] = [];
		for (const ms of [0, DAY_MS - 60_000, DAY_MS + 60_000]) {
			later = ms;
			expect(await sender.send(shipment(receiver.url()))).toMatchObject({ kind: "answered" });
			connections.push(receiver.sockets.length);
		}
		expect(connections).toEqual([1, 1, 2]);
	});

	test("lives until its first certificate expires", () => {
		const root = { valid_to: "Jan  1 00:00:00 2030 GMT" } as DetailedPeerCertificate;
		root.issuerCertificate = root;
		const leaf = { valid_to: "Jan  1 00:00:00 2031 GMT", issuerCertificate: root } as DetailedPeerCertificate;
		expect(validUntil(leaf)).toBe(Date.parse("2030-01-01T00:00:00Z"));
		expect(validUntil({ ...root, valid_to: "nonsense" })).toBe(0);
	});
});

describe("names", () => {
	test("are resolved once per connection, sent to the server, and checked against its certificate", async () => {
		const receiver = await listen(authority.issue({ names: ["shop.example", "*.shop.example"] }));
		const sender = makeSender();
		for (const host of ["shop.example", "SHOP.example", "eu.shop.example", "shop.example."]) {
			lookups = [];
			const outcome = await sender.send(shipment(receiver.url("/", host)));
			expect(outcome, host).toMatchObject({ kind: "answered", status: 200 });
			expect(lookups.length, host).toBeLessThanOrEqual(1);
			expect(receiver.sockets.at(-1)?.servername, host).toBe(host.toLowerCase().replace(/\.$/, ""));
		}
		expect(await sender.send(shipment(receiver.url("/", "other.example")))).toMatchObject({ reason: "tls_wrong_host" });
	});

	test("are tried at each of their addresses in order", async () => {
		const receiver = await listen(trusted);
		const several = makeSender({ resolver: { lookup: async () => ["127.0.0.2", "::1", "127.0.0.3", "127.0.0.1"] } });
		expect(await several.send(shipment(receiver.url()))).toMatchObject({ kind: "answered", status: 200 });
		const none = makeSender({ resolver: { lookup: async () => ["127.0.0.2", "127.0.0.3"] } });
		expect(await none.send(shipment(receiver.url()))).toMatchObject({ reason: "connection_refused" });
	});
});

test("a session keeps no memory other than its own", () => {
	// Node makes it in memory that it shares with 64 KB of requests, and a sender keeps those of 1,000 hosts.
	const sessions = new TlsSessions(systemClock);
	const session = Buffer.from("a session");
	sessions.keep("a:443", { session, validTo: Number.POSITIVE_INFINITY });
	const kept = sessions.find("a:443")!.session;
	expect([kept.toString(), kept.buffer.byteLength]).toEqual(["a session", session.length]);
});

// A receiver chooses their size: those of 1,000 hosts could hold 160 MB.
test("large sessions are not kept", () => {
	const sessions = new TlsSessions(systemClock);
	const validTo = systemClock.now() + DAY_MS;
	const session = (bytes: number) => ({ session: Buffer.alloc(bytes), validTo });
	sessions.keep("a:443", session(RECEIVERS.sessionBytes));
	expect(sessions.find("a:443")).toBeDefined();
	sessions.keep("a:443", session(RECEIVERS.sessionBytes + 1));
	expect(sessions.find("a:443")).toBeUndefined();
});
