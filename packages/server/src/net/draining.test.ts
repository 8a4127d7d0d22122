import { once } from "node:events";
import type { TLSSocket } from "node:tls";
import { afterEach, describe, expect, test, vi } from "vitest";
import { VirtualClock } from "../../../testkit/src/virtual-clock.ts";
import { RECEIVERS } from "../base/budgets.ts";
import { type Answer, answered, reply, shipment } from "../engine/send/receiver.fixture.ts";
import { made, Rig, text } from "../engine/send/rig.fixture.ts";
import { ResponseParser } from "./response-parser.ts";

const rig = new Rig();
const BODY = "0123456789abcdef".repeat(RECEIVERS.drainedBytes / 16 + 1);
const KEPT = BODY.slice(0, RECEIVERS.keptBytes);

const withLength = (length: number, sent = length): string =>
	`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${BODY.slice(0, sent)}`;

function inChunks(length: number, chunkLength: number, end = "0\r\n\r\n"): string {
	let text = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
	for (let at = 0; at < length; at += chunkLength) {
		const chunk = BODY.slice(at, Math.min(length, at + chunkLength));
		text += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
	}
	return text + end;
}

const { push } = ResponseParser.prototype;

afterEach(() => vi.restoreAllMocks());

/** Resolves once this holds after a read of a response. The effects of the read have then happened, too. */
function readUntil(holds: (parser: ResponseParser) => boolean): Promise<void> {
	return new Promise((resolve) => {
		vi.spyOn(ResponseParser.prototype, "push").mockImplementation(function (this: ResponseParser, chunk) {
			push.call(this, chunk);
			if (holds(this)) resolve();
		});
	});
}

/** Resolves once a response has been read to its end, or is given up. */
const finished = (): Promise<void> => readUntil(({ state }) => ["complete", "cut", "malformed"].includes(state));

/** A sender for which time passes only when the test says so, and that has had a (metered) handshake with the receiver. */
async function makeSender(idleConnections?: number) {
	const clock = new VirtualClock();
	const sender = rig.makeSender({ clock, idleConnections });
	rig.receiver.answer = answered(200, "ok", "connection: close\r\n");
	await sender.send(shipment(rig.receiver.url()));
	await rig.receiver.allClosed();
	const send = async () => made(await sender.send(shipment(rig.receiver.url())));
	return { clock, sender, send, opened: () => rig.receiver.sockets.length - 1 };
}

/** A receiver whose first response begins with more than is kept, and continues when the test says so. */
function beginning(answer = withLength(2_000, 1_500)): { socket: TLSSocket | null } {
	const first: { socket: TLSSocket | null } = { socket: null };
	rig.receiver.answer = (socket, request) => {
		if (first.socket !== null) {
			answered(200, "ok")(socket, request);
			return;
		}
		first.socket = socket;
		socket.write(answer);
	};
	return first;
}

// Such a response once ended its connection, so the next delivery needed another handshake.
describe("the rest of a response is read, and its connection is reused", () => {
	const most = RECEIVERS.drainedBytes;
	test.each([
		["1 byte more than is kept", withLength(1_025)],
		["2 KB", withLength(2_048)],
		["2 KB, chunked", inChunks(2_048, 2_048)],
		["64 KB", withLength(most)],
		["64 KB, chunked", inChunks(most, 16_384)],
		["64 KB in small chunks", inChunks(most, 100)],
	])("%s", async (_, answer) => {
		const { send, opened } = await makeSender();
		rig.receiver.answer = reply(answer);
		for (let i = 0; i < 3; i++) {
			const read = finished();
			const outcome = await send();
			expect(outcome).toMatchObject({ kind: "answered", status: 200, truncated: true });
			expect(text(outcome)).toBe(KEPT);
			await read;
		}
		expect(opened()).toBe(1);
	});

	test("the same on a connection with a metered handshake", async () => {
		const sender = rig.makeSender({ clock: new VirtualClock() });
		rig.receiver.answer = reply(withLength(most));
		for (let i = 0; i < 3; i++) {
			const read = finished();
			await sender.send(shipment(rig.receiver.url()));
			await read;
		}
		expect(rig.receiver.sockets).toHaveLength(1);
	});

	test("within a second, while other requests use other connections", async () => {
		const { clock, send, opened } = await makeSender();
		const first = beginning();
		expect(text(await send())).toBe(KEPT);
		await clock.advance(RECEIVERS.drainMs - 1);
		expect(text(await send())).toBe("ok");
		expect(opened()).toBe(2);
		const read = finished();
		first.socket!.write(BODY.slice(1_500, 2_000));
		await read;
		expect(await Promise.all([send(), send()])).toMatchObject([{ status: 200 }, { status: 200 }]);
		expect(opened()).toBe(2);
	});
});

describe("the connection is closed", () => {
	const tooMany = RECEIVERS.drainedBytes + 1;
	const chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
	test.each<[string, Answer]>([
		["without reading the rest, if its length exceeds 64 KB", reply(withLength(tooMany, 2_000))],
		["without reading the rest, if a chunk exceeds 64 KB", reply(`${chunked}${tooMany.toString(16)}\r\n${KEPT}x`)],
		["after more than 64 KB in chunks", reply(inChunks(tooMany, 1_024, ""))],
		["if the receiver doesn't keep it", reply(withLength(2_000).replace("content", "connection: close\r\ncontent"))],
		["if only its end ends the response", reply(`HTTP/1.1 200 OK\r\n\r\n${KEPT}x`)],
		["if the framing breaks", reply(inChunks(2_000, 1_500, "no size\r\n"))],
		["if bytes follow the response", reply(`${withLength(2_000)}x`)],
	])("%s", async (_, answer) => {
		const { send, sender, opened } = await makeSender();
		rig.receiver.answer = answer;
		const read = finished();
		const outcome = await send();
		expect(outcome).toMatchObject({ kind: "answered", status: 200, truncated: true });
		expect(text(outcome)).toBe(KEPT);
		await read;
		expect(sender.idleConnections).toBe(0);
		await rig.receiver.allClosed();
		rig.receiver.answer = answered(200, "next");
		expect(text(await send())).toBe("next");
		expect(opened()).toBe(2);
	});

	test.each<[string, (socket: TLSSocket) => void]>([
		["by the receiver, within the rest", (socket) => socket.end(BODY.slice(1_500, 1_600))],
		["if the receiver resets it within the rest", (socket) => rig.receiver.reset(socket)],
	])("%s", async (_, goOn) => {
		const { send, sender, opened } = await makeSender();
		const first = beginning();
		expect(text(await send())).toBe(KEPT);
		goOn(first.socket!);
		await rig.receiver.allClosed();
		expect(text(await send())).toBe("ok");
		expect(opened()).toBe(2);
		expect(sender.idleConnections).toBe(1);
		expect(rig.faults).toEqual([]);
	});

	test("if bytes follow the rest", async () => {
		const { send, sender } = await makeSender();
		const first = beginning();
		await send();
		const read = finished();
		first.socket!.write(`${BODY.slice(1_500, 2_000)}HTTP/1.1 200 OK\r\n\r\n`);
		await read;
		expect(sender.idleConnections).toBe(0);
		await rig.receiver.allClosed();
	});

	test("if the rest isn't complete after a second, however often some of it comes", async () => {
		const { clock, send, sender } = await makeSender();
		const first = beginning();
		const outcome = await send();
		expect(outcome).toMatchObject({ status: 200, truncated: true, endedAt: outcome.startedAt });
		await clock.advance(RECEIVERS.drainMs - 1);
		const more = readUntil(({ state }) => state === "rest");
		first.socket!.write("x");
		await more;
		expect(sender.idleConnections).toBe(1);
		await clock.advance(1);
		expect(sender.idleConnections).toBe(0);
		await rig.receiver.allClosed();
	});

	// Each read costs much more than the byte that it returns.
	test("if the rest takes too many reads", async () => {
		const { send, sender } = await makeSender();
		const first = beginning();
		await send();
		let reads = 0;
		const read = readUntil(() => ++reads === RECEIVERS.drainReads);
		const socket = first.socket!;
		// Each byte in a TLS record of its own.
		for (let i = 0; i < RECEIVERS.drainReads; i++) await new Promise((written) => socket.write("x", written));
		await read;
		expect(sender.idleConnections).toBe(0);
		await rig.receiver.allClosed();
	});

	test("with the sender, which reads nothing more", async () => {
		const { send, sender } = await makeSender();
		const first = beginning();
		await send();
		const reads = vi.spyOn(ResponseParser.prototype, "push");
		const closed = once(rig.receiver, "closed");
		await sender.close();
		first.socket!.write(BODY.slice(1_500, 2_000));
		await closed;
		expect(reads).not.toHaveBeenCalled();
	});
});

test("a connection whose response is still being read counts towards the kept ones", async () => {
	const { send, sender } = await makeSender(1);
	beginning();
	await send();
	expect(sender.idleConnections).toBe(1);
	const closed = once(rig.receiver, "closed");
	expect(text(await send())).toBe("ok");
	expect(sender.idleConnections).toBe(1);
	expect(await closed).toEqual([2]);
});
