import { describe, expect, test } from "vitest";
import { SENDS } from "../base/budgets.ts";
import { answered, type Receiver, shipment } from "../engine/send/receiver.fixture.ts";
import { Rig, text } from "../engine/send/rig.fixture.ts";

const rig = new Rig();

describe("kept-alive connections", () => {
	test("replaces a connection that the receiver closed during the request, without counting an attempt", async () => {
		rig.receiver.answer = (socket, request) => {
			if (request.connection === 0 && rig.receiver.requests.length > 1) socket.destroy();
			else answered(200, `connection ${request.connection}`)(socket, request);
		};
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("connection 0");
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("connection 1");
		expect(rig.receiver.requests).toHaveLength(3);
	});

	test("treats a reset the same way", async () => {
		rig.receiver.answer = (socket, request) => {
			if (request.connection === 0 && rig.receiver.requests.length > 1) rig.receiver.reset(socket);
			else answered(200, `connection ${request.connection}`)(socket, request);
		};
		await rig.sender.send(shipment(rig.receiver.url()));
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("connection 1");
	});

	test("counts a failure of the replacement, and doesn't replace it again", async () => {
		await rig.sender.send(shipment(rig.receiver.url()));
		rig.receiver.answer = (socket) => socket.destroy();
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("connection_reset");
		expect(rig.receiver.requests).toHaveLength(3);
	});

	test("if the receiver closed all of them, sends the request again on a new one", async () => {
		const answers: (() => void)[] = [];
		rig.receiver.answer = (socket, request) => {
			answers.push(() => answered(200, "ok")(socket, request));
			if (answers.length === 3) for (const answer of answers) answer();
		};
		await Promise.all(Array.from({ length: 3 }, () => rig.sender.send(shipment(rig.receiver.url()))));
		expect(rig.sender.idleConnections).toBe(3);
		rig.receiver.answer = (socket, request) => {
			if (request.connection < 3) socket.destroy();
			else answered(200, "new")(socket, request);
		};
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("new");
		expect(rig.receiver.requests).toHaveLength(3 + 2);
	});

	test("doesn't replace a connection that broke off during the response", async () => {
		await rig.sender.send(shipment(rig.receiver.url()));
		rig.receiver.answer = (socket) => socket.end("HTTP/1.1 2");
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("connection_reset");
		expect(rig.receiver.requests).toHaveLength(2);
	});

	test("drops a connection that the receiver closes while idle", async () => {
		rig.receiver.answer = (socket) => {
			answered(200, "ok")(socket, rig.receiver.requests[0]!);
			setImmediate(() => socket.end());
		};
		await rig.sender.send(shipment(rig.receiver.url()));
		await rig.receiver.allClosed();
		expect(rig.sender.idleConnections).toBe(0);
	});

	test("honors connection: close", async () => {
		rig.receiver.answer = answered(200, "ok", "connection: close\r\n");
		for (let i = 0; i < 3; i++) expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("ok");
		expect(rig.receiver.sockets).toHaveLength(3);
	});

	test("many requests all arrive if the receiver closes each connection right after its response", async () => {
		rig.receiver.answer = (socket, request) => {
			answered(200, "ok")(socket, request);
			socket.destroySoon();
		};
		const outcomes: string[] = [];
		for (let round = 0; round < 20; round++)
			for (const outcome of await Promise.all(
				Array.from({ length: 10 }, () => rig.sender.send(shipment(rig.receiver.url()))),
			))
				outcomes.push(text(outcome));
		expect(rig.faults).toEqual([]);
		expect(new Set(outcomes)).toEqual(new Set(["ok"]));
		await rig.receiver.allClosed();
		expect(rig.sender.idleConnections).toBe(0);
	});

	test("a burst of as many requests as may be in flight leaves its connections for the next one", async () => {
		const held: (() => void)[] = [];
		const burst = async () => {
			rig.receiver.answer = (socket, request) => {
				held.push(() => answered(200, "ok")(socket, request));
				if (held.length === SENDS.fastInFlight) for (const answer of held.splice(0)) answer();
			};
			await Promise.all(
				Array.from({ length: SENDS.fastInFlight }, () => rig.sender.send(shipment(rig.receiver.url()))),
			);
		};
		await burst();
		expect(rig.sender.idleConnections).toBe(SENDS.fastInFlight);
		await burst();
		expect(rig.receiver.sockets).toHaveLength(SENDS.fastInFlight);
	});

	test("receivers with many connections make room for one that has few", async () => {
		const sender = rig.makeSender({ idleConnections: 3 });
		const send = async (receiver: Receiver, count: number) => {
			const held: (() => void)[] = [];
			receiver.answer = (socket, request) => {
				held.push(() => answered(200, "ok")(socket, request));
				if (held.length === count) for (const answer of held) answer();
			};
			await Promise.all(Array.from({ length: count }, () => sender.send(shipment(receiver.url()))));
		};
		const quiet = await rig.listen();
		await send(rig.receiver, 3);
		for (let i = 0; i < 3; i++) await send(quiet, 1);
		expect(quiet.sockets).toHaveLength(1);
		// The busy one keeps the other two, and a third only if it takes no room from others.
		await send(rig.receiver, 3);
		expect(rig.receiver.sockets).toHaveLength(4);
		await send(quiet, 1);
		expect(quiet.sockets).toHaveLength(1);
		expect(sender.idleConnections).toBe(3);
	});

	// A busy host connected for each of its requests while others, with hardly any, kept all connections.
	test("if each receiver keeps one, one of them makes room for a receiver that has none", async () => {
		const sender = rig.makeSender({ idleConnections: 3, random: () => 0.5 });
		const quiet = [await rig.listen(), await rig.listen(), await rig.listen()];
		for (const receiver of quiet) await sender.send(shipment(receiver.url()));
		for (let i = 0; i < 5; i++) await sender.send(shipment(rig.receiver.url()));
		expect(rig.receiver.sockets).toHaveLength(1);
		for (const receiver of [quiet[0]!, quiet[2]!]) await sender.send(shipment(receiver.url()));
		expect(quiet.map(({ sockets }) => sockets.length)).toEqual([1, 1, 1]);
		await sender.send(shipment(quiet[1]!.url()));
		expect(quiet[1]!.sockets).toHaveLength(2);
		expect(sender.idleConnections).toBe(3);
	});

	test("an unsolicited response closes an idle connection and is ignored", async () => {
		rig.receiver.answer = (socket, request) => {
			answered(200, "asked")(socket, request);
			setImmediate(() => answered(200, "unasked")(socket, request));
		};
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("asked");
		await rig.receiver.allClosed();
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("asked");
	});
});
