import { describe, expect, test } from "vitest";
import { answered, shipment } from "./receiver.fixture.ts";
import { Rig, text } from "./rig.fixture.ts";

const rig = new Rig();

describe("kept-alive connections", () => {
	test("one that the receiver closed under the request is replaced: that is no attempt", async () => {
		rig.receiver.answer = (socket, request) => {
			if (request.connection === 0 && rig.receiver.requests.length > 1) socket.destroy();
			else answered(200, `connection ${request.connection}`)(socket, request);
		};
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("connection 0");
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("connection 1");
		expect(rig.receiver.requests).toHaveLength(3);
	});

	test("a reset counts the same", async () => {
		rig.receiver.answer = (socket, request) => {
			if (request.connection === 0 && rig.receiver.requests.length > 1) rig.receiver.reset(socket);
			else answered(200, `connection ${request.connection}`)(socket, request);
		};
		await rig.sender.send(shipment(rig.receiver.url()));
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("connection 1");
	});

	test("the replacement's failure counts, and is not replaced again", async () => {
		await rig.sender.send(shipment(rig.receiver.url()));
		rig.receiver.answer = (socket) => socket.destroy();
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("connection_reset");
		expect(rig.receiver.requests).toHaveLength(3);
	});

	test("where the receiver closed all of them, the request goes out once more, on a new one", async () => {
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

	test("a connection that broke off within the answer is not replaced", async () => {
		await rig.sender.send(shipment(rig.receiver.url()));
		rig.receiver.answer = (socket) => socket.end("HTTP/1.1 2");
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("connection_reset");
		expect(rig.receiver.requests).toHaveLength(2);
	});

	test("one that the receiver closes while idle leaves the stack", async () => {
		rig.receiver.answer = (socket) => {
			answered(200, "ok")(socket, rig.receiver.requests[0]!);
			setImmediate(() => socket.end());
		};
		await rig.sender.send(shipment(rig.receiver.url()));
		await rig.receiver.allClosed();
		expect(rig.sender.idleConnections).toBe(0);
	});

	test("connection: close is obeyed", async () => {
		rig.receiver.answer = answered(200, "ok", "connection: close\r\n");
		for (let i = 0; i < 3; i++) expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("ok");
		expect(rig.receiver.sockets).toHaveLength(3);
	});

	test("many requests, each connection closed by the receiver right after its answer, all arrive", async () => {
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

	test("an answer nobody asked for ends an idle connection and is nobody's answer", async () => {
		rig.receiver.answer = (socket, request) => {
			answered(200, "asked")(socket, request);
			setImmediate(() => answered(200, "unasked")(socket, request));
		};
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("asked");
		await rig.receiver.allClosed();
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("asked");
	});
});
