import { createHmac } from "node:crypto";
import { once } from "node:events";
import type { TLSSocket } from "node:tls";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { secretDigest } from "@posthorn/protocol";
import { describe, expect, test } from "vitest";
import { VirtualClock } from "../../../../testkit/src/virtual-clock.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { answered, header, keyOf, SECRET, shipment, signatureOf } from "./receiver.fixture.ts";
import { made, Rig, text } from "./rig.fixture.ts";

const rig = new Rig();

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Memory of buffers that something still refers to. */
function bytesHeld(): number {
	// The memory of the first collection's buffers is freed on another thread, which the second one waits for.
	collectGarbage();
	collectGarbage();
	return process.memoryUsage().arrayBuffers;
}

describe("the request", () => {
	test("is a signed POST of the exact bytes, with the contract's headers", async () => {
		const before = Date.now();
		const sent = shipment(rig.receiver.url("/hooks/a?token=1#part"), '{"id":"evt_1","text":"Füße\\u2028"}');
		const outcome = made(await rig.sender.send(sent));
		const [request] = rig.receiver.requests;
		expect(request!.head.split("\r\n")[0]).toBe("POST /hooks/a?token=1 HTTP/1.1");
		expect(request!.body.equals(sent.body)).toBe(true);
		expect(header(request!, "host")).toBe(`localhost:${rig.receiver.port}`);
		expect(header(request!, "Content-Type")).toBe("application/json");
		expect(header(request!, "User-Agent")).toBe("Service-Webhooks/1.0");
		expect(header(request!, "X-Service-Event")).toBe("purchase.completed");
		expect(header(request!, "X-Service-Event-Id")).toBe(sent.eventId);
		const timestamp = header(request!, "X-Service-Timestamp")!;
		expect(header(request!, "X-Service-Signature")).toBe(signatureOf(SECRET, timestamp, sent.body));
		expect(Number(timestamp)).toBeGreaterThanOrEqual(Math.floor(before / 1_000));
		expect(outcome).toMatchObject({
			kind: "answered",
			status: 200,
			truncated: false,
			request: {
				url: sent.target.url,
				brand: "Service",
				timestamp: Number(timestamp),
				signature: header(request!, "X-Service-Signature"),
			},
		});
		expect(text(outcome)).toBe("ok");
		expect(outcome.endedAt).toBeGreaterThanOrEqual(outcome.startedAt);
		expect(outcome.startedAt).toBeGreaterThanOrEqual(before);
	});

	test("uses one kept-alive connection for consecutive requests, several for concurrent ones", async () => {
		for (let i = 0; i < 20; i++) await rig.sender.send(shipment(rig.receiver.url()));
		expect(rig.receiver.sockets).toHaveLength(1);
		await Promise.all(Array.from({ length: 10 }, () => rig.sender.send(shipment(rig.receiver.url()))));
		expect(rig.receiver.sockets).toHaveLength(10);
		expect(rig.sender.idleConnections).toBe(10);
		await rig.sender.close();
		await rig.receiver.allClosed();
		expect(rig.sender.idleConnections).toBe(0);
	});

	test("leaves no memory behind that is kept for each webhook", async () => {
		// The head of a webhook's requests was once kept in 64 KB that it shared with other requests.
		const webhooks = Array.from({ length: 40 }, (_, i) => shipment(rig.receiver.url(`/${i}`)));
		await rig.sender.send(webhooks[0]!);
		const before = bytesHeld();
		for (const webhook of webhooks) {
			expect(text(await rig.sender.send(webhook))).toBe("ok");
			rig.receiver.requests.length = 0;
			for (let i = 0; i < 4; i++) Buffer.allocUnsafe(Buffer.poolSize / 2 - 1);
		}
		expect(bytesHeld() - before).toBeLessThan((webhooks.length / 2) * Buffer.poolSize);
	});

	test("goes to an address in the URL too, checked against the certificate", async () => {
		expect(text(await rig.sender.send(shipment(rig.receiver.url("/", "127.0.0.1"))))).toBe("ok");
	});

	test("ignores proxies in the environment", async () => {
		const names = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "HTTP_PROXY", "NODE_USE_ENV_PROXY"];
		const before = names.map((name) => process.env[name]);
		const proxy = await rig.listen();
		proxy.answer = answered(200, "proxy");
		for (const name of names) process.env[name] = name === "NODE_USE_ENV_PROXY" ? "1" : proxy.url("");
		const proxied = rig.makeSender();
		const outcome = await proxied.send(shipment(rig.receiver.url()));
		for (const [i, name] of names.entries())
			if (before[i] === undefined) delete process.env[name];
			else process.env[name] = before[i];
		expect(text(outcome)).toBe("ok");
		expect(proxy.tcpConnections).toBe(0);
	});
});

describe("an address to which connecting fails immediately", () => {
	// Connecting to such an address fails while the socket is being set up, before an error listener can be added.
	// Usually it is an IPv6 address on a machine without IPv6. The process once died of it. The loopback broadcast
	// address fails in the same way everywhere.
	const unroutable = "127.255.255.255";

	test("leads to an outcome, for a name and for an address in the URL", async () => {
		const sender = rig.makeSender({ resolver: { lookup: async () => [unroutable] } });
		expect(text(await sender.send(shipment("https://no-route.example/")))).toBe("host_unreachable");
		expect(text(await sender.send(shipment(`https://${unroutable}/`)))).toBe("host_unreachable");
		expect(rig.faults).toEqual([]);
	});

	test("leads to an outcome for a known host whose TLS session would be resumed", async () => {
		let address = "127.0.0.1";
		const sender = rig.makeSender({ resolver: { lookup: async () => [address] } });
		const url = rig.receiver.url();
		rig.receiver.answer = answered(200, "ok", "connection: close\r\n");
		expect(text(await sender.send(shipment(url)))).toBe("ok");
		address = unroutable;
		expect(text(await sender.send(shipment(url)))).toBe("host_unreachable");
		expect(rig.faults).toEqual([]);
	});

	test("is skipped if the host has another one", async () => {
		const sender = rig.makeSender({ resolver: { lookup: async () => [unroutable, "127.0.0.1"] } });
		expect(text(await sender.send(shipment(rig.receiver.url())))).toBe("ok");
	});
});

describe("changes while a request waits to be written", () => {
	/** A receiver whose TLS handshakes wait until the test lets them continue. */
	async function slowReceiver() {
		const { promise: asked, resolve: onAsked } = Promise.withResolvers<() => void>();
		const slow = await rig.listen({
			SNICallback: (_name: string, callback: (error: null) => void) => onAsked(() => callback(null)),
		});
		return { slow, asked };
	}

	test("after a rotation during the handshake, only the new secret signs", async () => {
		const { slow, asked } = await slowReceiver();
		const sent = shipment(slow.url());
		const sending = rig.sender.send(sent);
		const proceed = await asked;
		const fresh = `whsec_${"n".repeat(64)}`;
		sent.target.key = keyOf(fresh);
		proceed();
		const outcome = made(await sending);
		expect(text(outcome)).toBe("ok");
		expect(slow.requests).toHaveLength(1);
		const [request] = slow.requests;
		const expected = signatureOf(fresh, header(request!, "X-Service-Timestamp")!, sent.body);
		expect(header(request!, "X-Service-Signature")).toBe(expected);
		expect(outcome.request?.signature).toBe(expected);
	});

	test("the timestamp is the time of writing", async () => {
		let now = 1_800_000_000_000;
		const clock: Clock = { ...systemClock, now: () => now };
		const timed = rig.makeSender({ clock });
		const { slow, asked } = await slowReceiver();
		const sending = timed.send(shipment(slow.url()));
		const proceed = await asked;
		now += 7_000;
		proceed();
		const outcome = made(await sending);
		expect(outcome.request?.timestamp).toBe(1_800_000_007);
		expect(header(slow.requests[0]!, "X-Service-Timestamp")).toBe("1800000007");
		expect([outcome.startedAt, outcome.endedAt]).toEqual([1_800_000_000_000, 1_800_000_007_000]);
	});

	test("after a change of URL, only the new one is called", async () => {
		const { slow, asked } = await slowReceiver();
		const sent = shipment(slow.url());
		const sending = rig.sender.send(sent);
		const proceed = await asked;
		sent.target.url = rig.receiver.url("/moved");
		proceed();
		const outcome = await sending;
		expect(outcome).toMatchObject({ kind: "answered", status: 200, request: { url: rig.receiver.url("/moved") } });
		expect(slow.requests).toHaveLength(0);
		expect(rig.receiver.requests).toHaveLength(1);
	});

	test("once the lease is lost, nothing is signed or sent; the connection is kept", async () => {
		const { slow, asked } = await slowReceiver();
		let holdsLease = true;
		const sent = { ...shipment(slow.url()), mayLeave: () => holdsLease };
		const sending = rig.sender.send(sent);
		const proceed = await asked;
		holdsLease = false;
		proceed();
		expect(await sending).toEqual({ kind: "cancelled" });
		expect(await rig.sender.send(sent)).toEqual({ kind: "cancelled" });
		expect(rig.sender.idleConnections).toBe(1);
		holdsLease = true;
		expect(text(await rig.sender.send(sent))).toBe("ok");
		expect(slow.requests).toHaveLength(1);
		expect(slow.sockets).toHaveLength(1);
	});

	test("a change of URL doesn't restart the attempt's deadline", async () => {
		const { slow, asked } = await slowReceiver();
		const clock = new VirtualClock();
		const sender = rig.makeSender({ clock, timeoutMs: 10_000 });
		const sent = shipment(slow.url());
		const sending = sender.send(sent);
		const proceed = await asked;
		await clock.advance(6_000);
		const arrived = once(rig.receiver, "request");
		rig.receiver.answer = () => undefined;
		sent.target.url = rig.receiver.url("/moved");
		proceed();
		await arrived;
		await clock.advance(4_000);
		const outcome = made(await sending);
		expect(text(outcome)).toBe("timeout");
		expect(outcome.endedAt - outcome.startedAt).toBe(10_000);
	});

	test("a rotation between two requests on one connection applies to the second", async () => {
		const sent = shipment(rig.receiver.url());
		await rig.sender.send(sent);
		const fresh = `whsec_${"n".repeat(64)}`;
		sent.target.key = keyOf(fresh);
		await rig.sender.send(sent);
		const signatures = rig.receiver.requests.map(
			(request) => [header(request, "X-Service-Signature"), header(request, "X-Service-Timestamp")!] as const,
		);
		expect(signatures[0]![0]).toBe(signatureOf(SECRET, signatures[0]![1], sent.body));
		expect(signatures[1]![0]).toBe(signatureOf(fresh, signatures[1]![1], sent.body));
		expect(rig.receiver.sockets).toHaveLength(1);
	});
});

describe("time", () => {
	test("the deadline covers the TLS handshake, and frees the socket", async () => {
		const hanging = await rig.listen({ SNICallback: () => undefined });
		const hasty = rig.makeSender({ timeoutMs: 200 });
		expect(text(await hasty.send(shipment(hanging.url())))).toBe("timeout");
		await hanging.allClosed();
		expect(hanging.requests).toHaveLength(0);
	});

	// On waking, it had given up the address that had accepted meanwhile, and blamed the receiver for the next address's
	// error.
	test("a process that stalled while connecting waits again, and doesn't blame the receiver", async () => {
		const standStill = (): void => {
			for (const until = performance.now() + 1_500; performance.now() < until; );
		};
		const lookups: string[] = [];
		const sender = rig.makeSender({
			resolver: {
				async lookup(name) {
					lookups.push(name);
					// Stalls after the connection is made, but before the sender is notified.
					process.nextTick(standStill);
					return ["127.0.0.1", "127.0.0.2"];
				},
			},
		});
		expect(text(await sender.send(shipment(rig.receiver.url("/"))))).toBe("ok");
		expect(lookups).toEqual(["localhost"]);
		expect(rig.receiver.requests).toHaveLength(1);
	});

	test("hanging receivers don't delay others", async () => {
		const held: TLSSocket[] = [];
		rig.receiver.answer = (socket, request) => {
			if (request.head.startsWith("POST /hang")) held.push(socket);
			else answered(200, "quick")(socket, request);
		};
		let settled = 0;
		const hanging = Array.from({ length: 50 }, () =>
			rig.sender.send(shipment(rig.receiver.url("/hang"))).finally(() => settled++),
		);
		while (held.length < hanging.length) await once(rig.receiver, "request");
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("quick");
		expect(settled).toBe(0);
		for (const socket of held) socket.destroy();
		expect(new Set((await Promise.all(hanging)).map(text))).toEqual(new Set(["connection_reset"]));
	});

	test("closing the sender lets attempts in flight finish, and keeps no connection after them", async () => {
		const arrived = once(rig.receiver, "request");
		let answer = () => {};
		rig.receiver.answer = (socket, request) => {
			answer = () => answered(200, "late")(socket, request);
		};
		const sending = rig.sender.send(shipment(rig.receiver.url()));
		await arrived;
		await rig.sender.close();
		answer();
		expect(text(await sending)).toBe("late");
		await rig.receiver.allClosed();
	});
});

test("the reference signature is an HMAC with the whole secret, which equals one with its SHA-256", () => {
	const body = Buffer.from("{}");
	const withDigest = createHmac("sha256", secretDigest(SECRET)).update("1.").update(body).digest("hex");
	expect(withDigest).toBe(signatureOf(SECRET, "1", body));
});
