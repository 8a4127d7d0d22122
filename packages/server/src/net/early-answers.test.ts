import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { VirtualClock } from "../../../testkit/src/virtual-clock.ts";
import { RECEIVERS } from "../base/budgets.ts";
import { shipment } from "../engine/send/receiver.fixture.ts";
import { makeHandshakes, Rig } from "../engine/send/rig.fixture.ts";
import { ResponseParser } from "./response-parser.ts";
import type { Handshakes } from "./tls/handshakes.ts";

const rig = new Rig();
const TIMEOUT_MS = 10_000;
/** More than the system holds for a connection. */
const LARGE = "x".repeat(32 * 1_024 * 1_024);

const { push } = ResponseParser.prototype;

/** Resolves once a response has been read to its end, and what follows from that has happened. */
function responseRead(): Promise<void> {
	return new Promise((resolve) => {
		const spy = vi.spyOn(ResponseParser.prototype, "push").mockImplementation(function (this: ResponseParser, chunk) {
			push.call(this, chunk);
			if (this.state !== "complete") return;
			spy.mockRestore();
			setImmediate(resolve);
		});
	});
}

/** Resolves once a receiver that has read nothing of a request has answered it. */
async function sendUnread(handshakes: Handshakes | undefined, status = 200) {
	const clock = new VirtualClock();
	const sender = rig.makeSender({ clock, handshakes, timeoutMs: TIMEOUT_MS });
	const server = createServer({ ...rig.credentials, ALPNProtocols: ["http/1.1"] });
	const connected = once(server, "secureConnection") as Promise<[TLSSocket]>;
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const written = Promise.withResolvers<void>();
	let ended = false;
	const { port } = server.address() as AddressInfo;
	const outcome = sender
		.send({ ...shipment(`https://localhost:${port}/`, LARGE), onWritten: () => written.resolve() })
		.finally(() => {
			ended = true;
		});
	const [[socket]] = await Promise.all([connected, written.promise]);
	onTestFinished(() => {
		socket.destroy();
		server.close();
	});
	socket.on("error", () => undefined);
	const read = responseRead();
	socket.write(`HTTP/1.1 ${status} Early\r\ncontent-length: 2\r\n\r\nok`);
	await read;
	return { clock, sender, socket, outcome, hasEnded: () => ended };
}

// Such an attempt once ended with the answer, and what the receiver hadn't read stayed in memory, uncounted. The next
// request followed it on the same connection, and so on.
describe.each([
	["a connection with a metered handshake", makeHandshakes],
	["another connection", () => undefined],
])("a receiver that answers before it has read the request, on %s", (_, handshakes) => {
	test("gets all of it within the attempt, and its connection is kept", async () => {
		const { clock, sender, socket, outcome, hasEnded } = await sendUnread(handshakes());
		expect(hasEnded()).toBe(false);
		const answeredAt = clock.now();
		await clock.advance(1_000);
		let read = 0;
		socket.on("data", (chunk: Buffer) => {
			read += chunk.length;
		});
		expect(await outcome).toMatchObject({ kind: "answered", status: 200, truncated: false, endedAt: answeredAt });
		expect(read).toBeGreaterThan(LARGE.length / 2);
		expect(sender.idleConnections).toBe(1);
	});

	test("and refuses it gets no more of it after a second", async () => {
		const { clock, sender, outcome, hasEnded } = await sendUnread(handshakes(), 413);
		const answeredAt = clock.now();
		await clock.advance(RECEIVERS.bodyMs - 1);
		expect(hasEnded()).toBe(false);
		await clock.advance(1);
		expect(await outcome).toMatchObject({ kind: "answered", status: 413, truncated: false, endedAt: answeredAt });
		expect(sender.idleConnections).toBe(0);
	});

	test("and never reads it ends the attempt at its deadline, and its connection is closed", async () => {
		const { clock, sender, outcome, hasEnded } = await sendUnread(handshakes());
		const answeredAt = clock.now();
		await clock.advance(TIMEOUT_MS - 1);
		expect(hasEnded()).toBe(false);
		await clock.advance(1);
		expect(await outcome).toMatchObject({ kind: "answered", status: 200, truncated: false, endedAt: answeredAt });
		expect(sender.idleConnections).toBe(0);
	});
});
