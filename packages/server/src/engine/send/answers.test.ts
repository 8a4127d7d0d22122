import { once } from "node:events";
import type { NetworkInterfaceInfo } from "node:os";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unusedPort } from "../../../../testkit/src/ports.ts";
import { VirtualClock } from "../../../../testkit/src/virtual-clock.ts";
import { systemClock } from "../../base/clock.ts";
import { createDialer } from "../../net/dial.ts";
import { createGuard } from "../../net/egress.ts";
import { SendFailure } from "../../net/errors.ts";
import { createResolver } from "../../net/resolver.ts";
import { ResponseParser } from "../../net/response-parser.ts";
import { type Answer, answered, reply, shipment } from "./receiver.fixture.ts";
import { made, Rig, text } from "./rig.fixture.ts";

const rig = new Rig();

/** A sender whose attempts' deadlines pass when the test says so, before the body's grace period ends. */
function makeHasty() {
	const clock = new VirtualClock();
	const sender = rig.makeSender({ clock, timeoutMs: 300 });
	return { sender, timeIsUp: () => clock.advance(300) };
}

/** Resolves once a sender has read part of a response. */
function heard(): Promise<void> {
	const { push } = ResponseParser.prototype;
	return new Promise((resolve) => {
		ResponseParser.prototype.push = function (chunk) {
			ResponseParser.prototype.push = push;
			push.call(this, chunk);
			resolve();
		};
	});
}

describe("the response", () => {
	test.each([200, 201, 202, 204, 299, 301, 302, 307, 308, 400, 404, 410, 429, 500, 503, 599])(
		"%i is reported as is, and redirects are not followed",
		async (status) => {
			rig.receiver.answer = answered(status, "", `location: ${rig.receiver.url("/elsewhere")}\r\n`);
			expect(await rig.sender.send(shipment(rig.receiver.url()))).toMatchObject({ kind: "answered", status });
			expect(rig.receiver.requests).toHaveLength(1);
		},
	);

	test.each([0, 1, 1_023, 1_024, 1_025, 5_000, 100_000])("at most 1,024 of %i body bytes are kept", async (length) => {
		const body = "0123456789abcdef".repeat(length / 16 + 1).slice(0, length);
		rig.receiver.answer = answered(200, body);
		const outcome = await rig.sender.send(shipment(rig.receiver.url()));
		expect(outcome).toMatchObject({ kind: "answered", status: 200, truncated: length > 1_024 });
		expect(text(outcome)).toBe(body.slice(0, 1_024));
	});

	test("joins the pieces of a body, and decodes a chunked one", async () => {
		rig.receiver.answer = (socket) => {
			socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n");
			setImmediate(() => socket.write("4\r\ndefg\r\n0\r\n\r\n"));
		};
		const outcome = await rig.sender.send(shipment(rig.receiver.url()));
		expect(outcome).toMatchObject({ truncated: false });
		expect(text(outcome)).toBe("abcdefg");
	});

	test("compressed bodies stay compressed", async () => {
		const bomb = gzipSync(Buffer.alloc(1_000_000));
		rig.receiver.answer = answered(200, bomb.subarray(0, 1_000), "content-encoding: gzip\r\n");
		const outcome = await rig.sender.send(shipment(rig.receiver.url()));
		expect(outcome.kind === "answered" && bomb.subarray(0, 1_000).equals(outcome.body)).toBe(true);
	});

	test.each<[string, Answer]>([
		["100 Continue", reply("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")],
		[
			"100 Continue in single bytes",
			(socket) => {
				for (const byte of "HTTP/1.1 100 Continue\r\nx: y\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
					socket.write(byte);
			},
		],
		[
			"many interim responses",
			reply(
				`${"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(16)}HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok`,
			),
		],
	])("skips interim responses before it: %s", async (_, answer) => {
		rig.receiver.answer = answer;
		const outcome = await rig.sender.send(shipment(rig.receiver.url()));
		expect(outcome).toMatchObject({ kind: "answered", status: 200 });
		expect(text(outcome)).toBe("ok");
	});

	test.each<[string, Answer]>([
		["closed before its length", (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nok")],
		[
			"reset",
			(socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nok", () => rig.receiver.reset(socket)),
		],
		["broken chunks", reply("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\nnonsense\r\n")],
		["chunks that stop", (socket) => socket.end("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n")],
		["silence", reply("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nok")],
	])("counts once its status line has arrived, even if its body doesn't: %s", async (_, answer) => {
		rig.receiver.answer = answer;
		const outcome = await rig.sender.send(shipment(rig.receiver.url()));
		expect(outcome).toMatchObject({ kind: "answered", status: 200, truncated: true });
		expect(text(outcome)).toBe("ok");
		await rig.receiver.allClosed();
	});

	test("cuts off an endless body", async () => {
		rig.receiver.answer = (socket) => {
			socket.write("HTTP/1.1 200 OK\r\n\r\n");
			const more = () => {
				while (socket.write("x".repeat(10_000)));
			};
			socket.on("drain", more);
			more();
		};
		const outcome = await rig.sender.send(shipment(rig.receiver.url()));
		expect(outcome).toMatchObject({ kind: "answered", status: 200, truncated: true });
		expect(text(outcome)).toBe("x".repeat(1_024));
		await rig.receiver.allClosed();
	});

	/** A receiver that sends a head, and one byte of a 1,000-byte body at each call of `drip`. */
	function drippingReceiver() {
		let drip = () => {};
		rig.receiver.answer = (socket) => {
			socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nx");
			drip = () => socket.write("x");
		};
		return { drip: () => drip() };
	}

	test("cuts off a dripping body after its grace period of a second, which doesn't count as response time", async () => {
		const { drip } = drippingReceiver();
		const clock = new VirtualClock();
		const sender = rig.makeSender({ clock, timeoutMs: 10_000 });
		let ended = false;
		let some = heard();
		const sending = sender.send(shipment(rig.receiver.url())).finally(() => {
			ended = true;
		});
		await some;
		await clock.advance(300);
		some = heard();
		drip();
		await some;
		await clock.advance(699);
		await new Promise((resolve) => setImmediate(resolve));
		expect(ended).toBe(false);
		await clock.advance(1);
		const outcome = made(await sending);
		expect(outcome).toMatchObject({ kind: "answered", status: 200, truncated: true });
		expect(text(outcome)).toBe("xx");
		expect(outcome.endedAt - outcome.startedAt).toBe(300);
		await rig.receiver.allClosed();
	});

	test("cuts off a dripping body at the deadline if that comes first", async () => {
		drippingReceiver();
		const hasty = makeHasty();
		const some = heard();
		const sending = hasty.sender.send(shipment(rig.receiver.url()));
		await some;
		await hasty.timeIsUp();
		const outcome = made(await sending);
		expect(outcome).toMatchObject({ kind: "answered", status: 200, truncated: true });
		expect(outcome.endedAt).toBe(outcome.startedAt);
		await rig.receiver.allClosed();
	});

	test("the status line counts even if the header lines after it break off or never end", async () => {
		rig.receiver.answer = (socket) => socket.end("HTTP/1.1 204 No Content\r\nx-a: b");
		const counted = { kind: "answered", status: 204 };
		expect(await rig.sender.send(shipment(rig.receiver.url()))).toMatchObject(counted);
		rig.receiver.answer = reply("HTTP/1.1 204 No Content\r\nx-a: b\r\n");
		const hasty = makeHasty();
		const some = heard();
		const outcome = hasty.sender.send(shipment(rig.receiver.url()));
		await some;
		hasty.timeIsUp();
		expect(await outcome).toMatchObject(counted);
		await rig.receiver.allClosed();
	});

	test("a body without length ends with the connection", async () => {
		rig.receiver.answer = (socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nall of it");
		const outcome = await rig.sender.send(shipment(rig.receiver.url()));
		expect(outcome).toMatchObject({ kind: "answered", truncated: false });
		expect(text(outcome)).toBe("all of it");
	});
});

describe("no response", () => {
	/** Expects one request, and no effect on the next attempt. */
	async function expectNoAnswer(outcome: unknown, reason: string, sender: Rig["sender"]): Promise<void> {
		expect(rig.faults).toEqual([]);
		expect(outcome).toMatchObject({ kind: "unanswered", reason, request: { url: rig.receiver.url() } });
		await rig.receiver.allClosed();
		expect(rig.receiver.requests).toHaveLength(1);
		rig.receiver.answer = answered(200, "well again");
		expect(text(await sender.send(shipment(rig.receiver.url())))).toBe("well again");
		expect(rig.faults).toEqual([]);
	}

	test.each<[string, Answer, () => Promise<unknown>]>([
		["silence", () => undefined, () => once(rig.receiver, "request")],
		["half a status line, then silence", reply("HTTP/1.1 2"), heard],
	])("until the deadline: %s", async (_, answer, happened) => {
		rig.receiver.answer = answer;
		const hasty = makeHasty();
		const soFar = happened();
		const outcome = hasty.sender.send(shipment(rig.receiver.url()));
		await soFar;
		hasty.timeIsUp();
		await expectNoAnswer(await outcome, "timeout", hasty.sender);
	});

	const cases: [string, Answer, string][] = [
		["a reset", (socket) => rig.receiver.reset(socket), "connection_reset"],
		["closing", (socket) => socket.end(), "connection_reset"],
		["closing within the status line", (socket) => socket.end("HTTP/1.1 20"), "connection_reset"],
		["not HTTP", reply("SSH-2.0-OpenSSH_9.9\r\n"), "malformed_response"],
		["not HTTP, without an end of line", reply("garbage"), "malformed_response"],
		["a bad status", reply("HTTP/1.1 2xx OK\r\n\r\n"), "malformed_response"],
		["HTTP/2", reply("\0\0\x12\x04\0\0\0\0\0"), "malformed_response"],
		["a bad header line", reply("HTTP/1.1 200 OK\r\nno colon\r\n\r\n"), "malformed_response"],
		["two lengths", reply("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nok"), "malformed_response"],
		["far too many interim responses", reply("HTTP/1.1 103 Early\r\n\r\n".repeat(17)), "malformed_response"],
		["a huge header", reply(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(100_000)}\r\n\r\n`), "malformed_response"],
		[
			"switching protocols",
			reply("HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"),
			"malformed_response",
		],
		["switching protocols without saying to what", reply("HTTP/1.1 101 Switching\r\n\r\n"), "malformed_response"],
	];
	test.each(cases)("%s", async (_, answer, reason) => {
		rig.receiver.answer = answer;
		await expectNoAnswer(await rig.sender.send(shipment(rig.receiver.url())), reason, rig.sender);
	});

	test("no server listens", async () => {
		const url = `https://localhost:${await unusedPort()}/hook`;
		// Such attempts were once logged with a signature and a timestamp, as if they had been sent.
		const outcome = await rig.sender.send(shipment(url));
		expect(outcome).toMatchObject({ kind: "unanswered", reason: "connection_refused", url, request: null });
		expect(rig.faults).toEqual([]);
	});

	test("never connects to an address that is not permitted, by number or by name", async () => {
		const strict = rig.makeSender({ guard: createGuard({ allow: [] }) });
		for (const host of ["127.0.0.1", "2130706433", "0x7f.1", "localhost", "[::ffff:127.0.0.1]", "[::1]"])
			expect(text(await strict.send(shipment(rig.receiver.url("/", host)))), host).toBe("address_not_public");
		expect(rig.receiver.tcpConnections).toBe(0);
		expect(rig.faults).toEqual([]);
	});

	test("never connects to this machine's own address or a denied one, by number or by name", async () => {
		const interfaces = () => ({ lo: [{ address: "8.8.4.4" } as NetworkInterfaceInfo] });
		const own = createGuard({ allow: ["64:ff9b::/96"], interfaces });
		const denied = createGuard({ allow: ["127.0.0.0/8"], deny: ["127.0.0.1/32"], interfaces });
		for (const [guard, host] of [
			[own, "8.8.4.4"],
			// The same, as a translated address.
			[own, "[64:ff9b::808:404]"],
			[denied, "127.0.0.1"],
			[denied, "localhost"],
		] as const)
			expect(text(await rig.makeSender({ guard }).send(shipment(rig.receiver.url("/", host)))), host).toBe(
				"address_not_allowed",
			);
		expect(rig.receiver.tcpConnections).toBe(0);
	});

	// Until 2026-11-24 this was reported as an address that isn't public.
	test("never connects to port 0 or 25, nor to one that the operator doesn't allow, and says so", async () => {
		const ports: number[] = [];
		const guard = createGuard({ allow: ["127.0.0.0/8"], ports: [[1, 1_000]] });
		const dialer = createDialer({
			guard,
			resolver: createResolver({ guard, clock: systemClock }),
			clock: systemClock,
			connect: ({ port }) => {
				ports.push(port);
				throw new SendFailure("connection_refused", "nothing listens here");
			},
		});
		const sender = rig.makeSender({ guard, dialer });
		for (const port of [0, 25, 1_001])
			expect(text(await sender.send(shipment(`https://127.0.0.1:${port}/`))), `${port}`).toBe("port_not_allowed");
		await sender.send(shipment("https://127.0.0.1:26/"));
		expect(ports).toEqual([26]);
	});

	test("reports our own faults as such", async () => {
		for (const url of ["http://localhost/", "no URL", ""]) {
			expect(text(await rig.sender.send(shipment(url))), url).toBe("sender_failed");
		}
		expect(text(await rig.sender.send({ ...shipment(rig.receiver.url()), eventType: "line\r\nbreak" }))).toBe(
			"sender_failed",
		);
		expect(rig.faults).toHaveLength(4);
	});
});

test("any bytes from a receiver lead to an outcome, without a fault or a leaked connection", async () => {
	const line = fc.constantFrom(
		"HTTP/1.1 200 OK",
		"HTTP/1.1 100 Continue",
		"HTTP/1.0 404",
		"HTTP/1.1 2",
		"HTTP/9 200",
		"",
	);
	const headers = fc.array(
		fc.constantFrom(
			"content-length: 3",
			"content-length: -1",
			"transfer-encoding: chunked",
			"connection: close",
			"connection: upgrade",
			"upgrade: h2c",
			"keep-alive: timeout=0",
			" folded",
			":",
			"\0: \x7f",
		),
		{ maxLength: 20, size: "max" },
	);
	const part = fc.oneof(
		fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
		fc
			.tuple(line, headers, fc.constantFrom("\r\n", "\n"))
			.map(([first, rest, newline]) => Buffer.from([first, ...rest, "", ""].join(newline), "latin1")),
		fc.constantFrom("abc", "3\r\nabc\r\n0\r\n\r\n", "HTTP/1.1").map((text) => Buffer.from(text)),
	);
	await fc.assert(
		fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => {
			rig.receiver.answer = (socket) => {
				for (const bytes of parts) socket.write(bytes);
				socket.end();
			};
			const outcome = made(await rig.sender.send(shipment(rig.receiver.url())));
			const allowed = ["answered", "connection_reset", "malformed_response"];
			expect(allowed).toContain(outcome.kind === "answered" ? outcome.kind : outcome.reason);
			expect(rig.faults).toEqual([]);
			await rig.receiver.allClosed();
			expect(rig.sender.idleConnections).toBe(0);
		}),
		{ numRuns: 300 },
	);
});
