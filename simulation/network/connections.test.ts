/** What becomes of connections: made or not, kept, closed, cut, and outlived by requests on their way. */
import { describe, expect, test } from "vitest";
import { type Acceptance, answer, closes, hang, type NodeShortage, twice } from "./index.ts";
import { ADDRESS, NetworkRig, shipment, text } from "./rig.fixture.ts";

describe("a new connection", () => {
	test.each<[string, Acceptance, string]>([
		["is refused", { kind: "refuse" }, "connection_refused"],
		["leads nowhere", { kind: "unreachable" }, "host_unreachable"],
		["is never acknowledged", { kind: "silent" }, "timeout"],
		["is reset", { kind: "reset" }, "connection_reset"],
		["is closed", { kind: "close" }, "connection_reset"],
		["is accepted, and nothing more", { kind: "mute" }, "timeout"],
		["shows an expired certificate", { kind: "tls", code: "CERT_HAS_EXPIRED" }, "tls_expired"],
		["shows an untrusted certificate", { kind: "tls", code: "DEPTH_ZERO_SELF_SIGNED_CERT" }, "tls_untrusted"],
		["speaks no TLS", { kind: "tls", code: "ERR_SSL_WRONG_VERSION_NUMBER" }, "tls_failed"],
		["is accepted late", { kind: "accept", acceptMs: 900, handshakeMs: 5_000 }, "200 ok"],
		["is accepted too late", { kind: "accept", handshakeMs: 20_000 }, "timeout"],
	])("%s", async (_, acceptance, expected) => {
		const rig = new NetworkRig();
		rig.receiver.accept = () => acceptance;
		const node = rig.node();
		expect(text(await rig.send(node.sender))).toBe(expected);
		expect(rig.network.requests).toHaveLength(expected === "200 ok" ? 1 : 0);
		expect(rig.faults).toEqual([]);
		await rig.time.runTo(rig.time.now() + 60_000);
		expect([node.network.connections, rig.receiver.connections]).toEqual([0, 0]);
	});

	test("is for another name than the certificate's", async () => {
		const rig = new NetworkRig();
		rig.receiver.certificateNames = ["other.example", "*.shop.example"];
		const { sender } = rig.node();
		expect(text(await rig.send(sender))).toBe("tls_wrong_host");
		rig.receiver.certificateNames = [ADDRESS];
		expect(text(await rig.send(sender, `https://${ADDRESS}/hook`))).toBe("200 ok");
	});

	test("goes to the next address where one does not answer", async () => {
		const rig = new NetworkRig();
		rig.network.names.set("shop.example", ["93.184.216.1", "93.184.216.2", ADDRESS, "2606:2800::1"]);
		rig.receiver.accept = (address) => (address === ADDRESS ? { kind: "accept" } : { kind: "silent" });
		rig.network.listen(rig.receiver, "93.184.216.2", "2606:2800::1");
		const { sender, network } = rig.node();
		network.hasIpv6 = false;
		expect(text(await rig.send(sender))).toBe("200 ok");
		expect(rig.network.requests[0]!.address).toBe(ADDRESS);
	});

	test.each<[NodeShortage, string]>([
		[{ code: "EMFILE" }, "descriptors"],
		[{ code: "EMFILE", throws: true }, "descriptors"],
		[{ code: "ENFILE" }, "descriptors"],
		[{ code: "ENOMEM" }, "memory"],
		[{ code: "ENOBUFS", throws: true }, "memory"],
		[{ code: "EADDRNOTAVAIL" }, "ports"],
	])("needs what a node is short of: %j", async (shortage, expected) => {
		const rig = new NetworkRig();
		const { sender, network } = rig.node();
		network.shortage = shortage;
		expect(text(await rig.send(sender))).toBe(expected);
		network.shortage = null;
		await rig.time.runTo(rig.time.now() + 60_000);
		expect(text(await rig.send(sender))).toBe("200 ok");
		expect(rig.faults).toEqual([]);
	});

	test("takes a descriptor", async () => {
		const rig = new NetworkRig();
		const { sender, network } = rig.node();
		network.descriptors = 1;
		rig.receiver.certificateNames = ["shop.example", ADDRESS];
		expect(text(await rig.send(sender))).toBe("200 ok");
		expect(text(await rig.send(sender, `https://${ADDRESS}/`))).toBe("descriptors");
	});

	test("that fails for an unknown reason is reported as our own error", async () => {
		const rig = new NetworkRig();
		const { sender, network } = rig.node();
		network.shortage = { code: "EUNKNOWN", throws: true };
		expect(text(await rig.send(sender))).toBe("sender_failed");
		expect(rig.faults).toEqual([expect.objectContaining({ code: "EUNKNOWN" })]);
	});

	test("whose receiver hands out sessions without end is given up", async () => {
		const rig = new NetworkRig();
		rig.receiver.accept = () => ({ kind: "accept", sessions: 17 });
		expect(text(await rig.send(rig.node().sender))).toBe("tls_failed");
	});
});

describe("a kept connection", () => {
	test("carries the next request", async () => {
		const rig = new NetworkRig();
		const { sender } = rig.node();
		for (let n = 0; n < 3; n++) await rig.send(sender);
		expect(rig.network.requests.map(({ connection, reused }) => [connection, reused])).toEqual([
			[1, false],
			[1, true],
			[1, true],
		]);
	});

	test("is closed by the node after four seconds", async () => {
		const rig = new NetworkRig();
		const { sender, network } = rig.node();
		await rig.send(sender);
		const answeredAt = rig.time.now();
		await rig.time.runTo(answeredAt + 3_999);
		expect([network.connections, rig.receiver.connections]).toEqual([1, 1]);
		await rig.time.runTo(answeredAt + 4_010);
		expect([network.connections, rig.receiver.connections]).toEqual([0, 0]);
	});

	test("is closed earlier where the receiver says that it will", async () => {
		const rig = new NetworkRig();
		rig.receiver.behave = () => answer(200, { headers: { "keep-alive": "timeout=3" } });
		const { sender, network } = rig.node();
		await rig.send(sender);
		await rig.time.runTo(rig.time.now() + 1_999);
		expect(network.connections).toBe(1);
		await rig.time.runTo(rig.time.now() + 1);
		expect(network.connections).toBe(0);
	});

	test("that the receiver closes during a request is replaced without counting an attempt", async () => {
		const rig = new NetworkRig();
		rig.receiver.keepAlive = { idleMs: 1_000, requests: Number.POSITIVE_INFINITY };
		const { sender } = rig.node();
		await rig.send(sender);
		// The end is on its way while the request is written.
		await rig.time.runTo(1_063 + 5);
		const [first] = rig.network.requests;
		expect(first!.receivedAt).toBe(63);
		const sending = sender.send(shipment());
		await rig.time.runTo(1_063 + 5);
		expect(text(await rig.time.until(sending))).toBe("200 ok");
		const [, stale, replaced] = rig.network.requests;
		expect(stale).toMatchObject({ connection: 1, reused: true, receivedAt: null, status: null });
		expect(replaced).toMatchObject({ connection: 2, reused: false, status: 200 });
	});

	test.each(["end", "reset"] as const)(
		"that the receiver closes as it reads a request is replaced once: %s",
		async (how) => {
			const rig = new NetworkRig();
			const { sender } = rig.node();
			await rig.send(sender);
			rig.receiver.behave = () => closes(how);
			expect(text(await rig.send(sender))).toBe("connection_reset");
			expect(rig.network.requests.map(({ connection }) => connection)).toEqual([1, 1, 2]);
		},
	);

	test("ends after as many requests as the receiver allows", async () => {
		const rig = new NetworkRig();
		rig.receiver.keepAlive = { idleMs: 5_000, requests: 2 };
		const { sender } = rig.node();
		for (let n = 0; n < 5; n++) {
			expect(text(await rig.send(sender))).toBe("200 ok");
			await rig.time.runTo(rig.time.now() + 10);
		}
		expect(rig.network.requests.map(({ connection }) => connection)).toEqual([1, 1, 2, 2, 3]);
	});

	test("is not kept after Connection: close", async () => {
		const rig = new NetworkRig();
		rig.receiver.behave = () => answer(200, { close: true });
		const { sender, network } = rig.node();
		for (let n = 0; n < 2; n++) expect(text(await rig.send(sender))).toBe("200 ");
		expect(rig.network.requests.map(({ connection }) => connection)).toEqual([1, 2]);
		expect(network.connections).toBe(0);
	});

	test("is closed after an unsolicited response", async () => {
		const rig = new NetworkRig();
		rig.receiver.behave = () => twice(answer(200));
		const { sender } = rig.node();
		for (let n = 0; n < 2; n++) expect(text(await rig.send(sender))).toBe("200 ");
		expect(rig.network.requests.map(({ connection }) => connection)).toEqual([1, 2]);
	});

	test("is closed by a receiver that restarts", async () => {
		const rig = new NetworkRig();
		const { sender, network } = rig.node();
		await rig.send(sender);
		rig.receiver.closeAll();
		await rig.time.runTo(rig.time.now() + 10);
		expect(network.connections).toBe(0);
		expect(text(await rig.send(sender))).toBe("200 ok");
	});
});

describe("a large answer", () => {
	test("is read in pieces, no more than a share of it in one turn", async () => {
		const rig = new NetworkRig();
		const head = `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(2_000)}`;
		rig.receiver.behave = () => ({ ...answer(200), bytes: Buffer.from(`${head}content-length: 2\r\n\r\nok`) });
		expect(text(await rig.send(rig.node().sender))).toBe("200 ok");
	});
});

describe("a cut", () => {
	test("holds what is on its way; by the time it is healed the receiver has left", async () => {
		const rig = new NetworkRig();
		const { sender, network } = rig.node();
		await rig.send(sender);
		const heal = rig.network.cut(network.name, ADDRESS);
		expect(text(await rig.send(sender))).toBe("timeout");
		heal();
		await rig.time.runTo(rig.time.now() + 60_000);
		expect(rig.network.requests[1]).toMatchObject({ receivedAt: null, status: null });
		expect(rig.receiver.requests).toBe(1);
	});

	test("lets a request arrive long after its attempt was given up", async () => {
		const rig = new NetworkRig();
		rig.receiver.keepAlive = { idleMs: Number.POSITIVE_INFINITY, requests: 100 };
		const { sender } = rig.node();
		await rig.send(sender);
		const heal = rig.network.cut(null, ADDRESS);
		expect(text(await rig.send(sender))).toBe("timeout");
		await rig.time.runTo(100_000);
		heal();
		await rig.time.runTo(200_000);
		expect(rig.network.requests[1]).toMatchObject({ receivedAt: 100_010, status: null });
		expect(text(await rig.send(sender))).toBe("200 ok");
	});

	test("loses what is on its way, and the connection hangs from then on", async () => {
		const rig = new NetworkRig();
		rig.receiver.keepAlive = { idleMs: Number.POSITIVE_INFINITY, requests: 100 };
		const { sender } = rig.node();
		await rig.send(sender);
		const sending = sender.send(shipment());
		await rig.time.runTo(rig.time.now());
		const heal = rig.network.cut(null, null, "lost");
		await rig.time.runTo(rig.time.now() + 20);
		heal();
		expect(text(await rig.time.until(sending))).toBe("timeout");
		expect(rig.network.requests[1]).toMatchObject({ receivedAt: null, status: null });
		expect(text(await rig.send(sender))).toBe("200 ok");
	});

	test("between one node and one receiver touches no others", async () => {
		const rig = new NetworkRig();
		rig.network.cut("node 1", ADDRESS);
		expect(text(await rig.send(rig.node("node 1").sender))).toBe("timeout");
		expect(text(await rig.send(rig.node("node 2").sender))).toBe("200 ok");
	});
});

describe("a node", () => {
	test.each(["process", "machine"] as const)("that dies (%s) leaves its request on the way", async (what) => {
		const broken: string[] = [];
		const rig = new NetworkRig({ observer: { broken: (_request, why) => broken.push(why) } });
		const { sender, network, process } = rig.node();
		void sender.send(shipment());
		await rig.time.runTo(53);
		expect(rig.network.requests).toHaveLength(1);
		process.state = "dead";
		network.die(what);
		expect(broken).toEqual(["the node died"]);
		await rig.time.runTo(4_000);
		expect(rig.network.requests[0]).toMatchObject({ receivedAt: 63, status: null });
		expect(rig.receiver.connections).toBe(what === "process" ? 0 : 1);
		await rig.time.runTo(60_000);
		expect(rig.receiver.connections).toBe(0);
	});

	test("that stands still reads its answer when it runs again", async () => {
		const rig = new NetworkRig();
		const { sender, process } = rig.node();
		const sending = sender.send(shipment());
		await rig.time.runTo(53);
		process.state = "frozen";
		await rig.time.runTo(50_000);
		expect(rig.network.requests[0]).toMatchObject({ receivedAt: 63, status: null });
		process.thaw();
		expect(text(await rig.time.until(sending))).toBe("200 ok");
		expect(rig.network.requests[0]).toMatchObject({ respondedAt: 50_000 });
	});

	test("whose receiver hangs breaks the request off at its deadline", async () => {
		const events: string[] = [];
		const rig = new NetworkRig({
			observer: {
				connecting: (node, address, hostname) => events.push(`${node} connects to ${address} for ${hostname}`),
				sent: ({ url }) => events.push(`sent to ${url}`),
				received: ({ no }) => events.push(`received ${no}`),
				responded: (_request, status) => events.push(`responded ${status}`),
				broken: (_request, why) => events.push(why),
			},
		});
		rig.receiver.behave = (_request, _draw, nth) => (nth === 0 ? answer(200) : hang);
		const { sender } = rig.node();
		await rig.send(sender);
		await rig.send(sender);
		const sent = "sent to https://shop.example/hook";
		expect(events).toEqual([
			`node 1 connects to ${ADDRESS} for shop.example`,
			sent,
			"received 1",
			"responded 200",
			sent,
			"received 2",
			"the node closed it",
		]);
	});
});
