import { EventEmitter } from "node:events";
import { TLSSocket } from "node:tls";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { VirtualClock } from "../../../../testkit/src/virtual-clock.ts";
import { RECEIVERS } from "../../base/budgets.ts";
import type { Dialed, Dialer } from "../../net/dial.ts";
import { ResponseParser } from "../../net/response-parser.ts";
import type { Socket } from "../../net/socket.ts";
import type { Received } from "../../net/tls/tls.ts";
import { type Answer, answered, shipment } from "./receiver.fixture.ts";
import { made, makeHandshakes, Rig, text } from "./rig.fixture.ts";

/**
 * Sockets, timers and name servers call the sender, and an exception thrown at them would end the process. Vitest fails
 * a run in which that happens, so each of these tests also shows that nothing was left uncaught.
 */
const rig = new Rig();

afterEach(() => {
	vi.restoreAllMocks();
});

const RESPONSE = Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
const BOOM = new Error("boom");
const boom = (): never => {
	throw BOOM;
};

/** Methods of a socket that either work or throw. */
type Method = "setTimeout" | "on" | "write" | "destroy" | "resume";

/** A dialer's socket whose methods throw as the test says. */
class FaultySocket extends EventEmitter {
	readonly writable = true;
	readonly writableLength = 0;
	destroyed = false;
	readonly #faulty: ReadonlySet<Method>;

	constructor(faulty: ReadonlySet<Method>) {
		super();
		this.#faulty = faulty;
		// The dialer too adds a listener immediately.
		super.on("error", () => undefined);
	}

	setTimeout(): void {
		this.#check("setTimeout");
	}

	override on(event: string, listener: (...args: unknown[]) => void): this {
		this.#check("on");
		return super.on(event, listener);
	}

	write(): boolean {
		this.#check("write");
		this.emit("written");
		return true;
	}

	destroy(): void {
		this.destroyed = true;
		this.#check("destroy");
	}

	resume(): void {
		this.#check("resume");
	}

	#check(method: Method): void {
		if (this.#faulty.has(method)) boom();
	}
}

/** Dials as the test says, and records the sockets and their callbacks. */
function faultyDialer(dial: (done: Dialed, received: Received) => void): Dialer {
	return {
		dial({ done, received }) {
			dial(done, received);
			return { resolving: false, isHeld: false, isMetered: false, waitedMs: 0, cancel: () => undefined };
		},
	};
}

describe("whatever throws, an attempt has an outcome and the next one isn't affected", () => {
	const method = fc.constantFrom<Method>("setTimeout", "on", "write", "destroy");
	/** Events on the connection once it is dialed. */
	const event = fc.constantFrom("response", "half", "garbage", "error", "end", "close", "timeout", "nothing");

	test("at any point of a connection's life", async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.uniqueArray(method, { maxLength: 4 }),
				fc.array(event, { maxLength: 4 }),
				fc.boolean(),
				async (methods, events, readerThrows) => {
					const clock = new VirtualClock();
					const told: unknown[] = [];
					const dialer = faultyDialer((done, received) => {
						setImmediate(() => {
							const socket = new FaultySocket(new Set(methods));
							done(socket as unknown as Socket);
							for (const each of events) {
								if (each === "response") received(RESPONSE);
								else if (each === "half") received(RESPONSE.subarray(0, 20));
								else if (each === "garbage") received(Buffer.from("garbage"));
								else if (each === "error") socket.emit("error", BOOM);
								else socket.emit(each);
							}
						});
					});
					const push = readerThrows ? vi.spyOn(ResponseParser.prototype, "push").mockImplementation(boom) : null;
					const sender = rig.makeSender({ dialer, clock, timeoutMs: 100, onFault: (error) => told.push(error) });
					const outcome = sender.send(shipment("https://faulty.example/"));
					// Two turns: it is started at the end of this one, and dialed in the next.
					for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
					await clock.advance(100);
					expect(["ok", "timeout", "sender_failed", "connection_reset", "malformed_response", ""]).toContain(
						text(made(await outcome)),
					);
					expect(told.every((error) => error === BOOM)).toBe(true);
					push?.mockRestore();
				},
			),
			{ numRuns: 300 },
		);
	});

	test.each<[string, () => Dialer]>([
		["dialing throws", () => faultyDialer(boom)],
		["dialing fails at once", () => faultyDialer((done) => done(BOOM))],
		["dialing fails with nothing", () => faultyDialer((done) => setImmediate(done, null as never))],
	])("%s", async (_, makeDialer) => {
		const sender = rig.makeSender({ dialer: makeDialer() });
		expect(made(await sender.send(shipment("https://faulty.example/")))).toMatchObject({ kind: "unanswered" });
	});

	// It counted as not sent, so the log didn't show a request that the receiver may have handled.
	test("a shortage ends an exchange whose request has left: an attempt, unlike one that prevents it from leaving", async () => {
		const shortage = Object.assign(new Error("write ENOBUFS"), { code: "ENOBUFS" });
		const sendOver = (left: boolean) => {
			const socket = Object.assign(new FaultySocket(new Set()), {
				write(_: Buffer, done: (error?: Error) => void) {
					setImmediate(() => {
						done(left ? undefined : shortage);
						socket.emit("error", shortage);
					});
					return true;
				},
			});
			const dialer = faultyDialer((done) => setImmediate(done, socket as unknown as Socket));
			return rig.makeSender({ dialer }).send(shipment("https://faulty.example/"));
		};
		expect(await sendOver(false)).toEqual({ kind: "deferred", shortage: "memory" });
		expect(rig.faults).toEqual([]);
		expect(await sendOver(true)).toMatchObject({
			kind: "unanswered",
			reason: "sender_failed",
			request: { signature: expect.any(String) },
		});
		// The shortage is reported once a minute. Each of thousands of requests in flight logged a stack.
		expect(rig.faults).toEqual([]);
	});

	test("setting a timer fails", async () => {
		const sender = rig.makeSender({ clock: { now: () => 0, elapsed: () => 0, setTimeout: boom, setImmediate } });
		expect(text(await sender.send(shipment(rig.receiver.url())))).toBe("sender_failed");
		expect(rig.faults).toEqual([BOOM]);
	});

	test("logging a fault fails", async () => {
		const sender = rig.makeSender({ dialer: faultyDialer(boom), onFault: boom });
		expect(text(await sender.send(shipment("https://faulty.example/")))).toBe("sender_failed");
	});

	test("parsing the URL after it changed fails", async () => {
		const sent = shipment(rig.receiver.url());
		const sending = rig.sender.send(sent);
		sent.target.url = "http://not.secure/";
		expect(text(await sending)).toBe("sender_failed");
		expect(rig.receiver.requests).toHaveLength(0);
	});

	test("the resolver throws instead of rejecting", async () => {
		const sender = rig.makeSender({ resolver: { lookup: boom } });
		expect(text(await sender.send(shipment("https://name.example/")))).toBe("sender_failed");
	});
});

describe("with real sockets", () => {
	test("the reader throws", async () => {
		vi.spyOn(ResponseParser.prototype, "push").mockImplementationOnce(boom);
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("sender_failed");
		expect(rig.faults).toEqual([BOOM]);
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("ok");
	});

	test("setting up a socket fails: tries the next address, and leaves nothing open", async () => {
		vi.spyOn(TLSSocket.prototype, "setNoDelay").mockImplementationOnce(boom);
		const sender = rig.makeSender({ resolver: { lookup: async () => ["127.0.0.1", "127.0.0.1"] } });
		expect(text(await sender.send(shipment(rig.receiver.url())))).toBe("ok");
		vi.spyOn(TLSSocket.prototype, "setNoDelay").mockImplementationOnce(boom);
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("sender_failed");
		await sender.close();
		await rig.receiver.allClosed();
	});

	test.each([
		["metered", 0],
		["unmetered", 1],
	])("drops a damaged TLS session, and makes a full handshake, %s", async (_, chance) => {
		const sender = rig.makeSender({ handshakes: makeHandshakes({ random: () => chance }) });
		const resumed: boolean[] = [];
		rig.receiver.answer = (socket, request) => {
			resumed.push(socket.isSessionReused());
			answered(200, "ok", "connection: close\r\n")(socket, request);
		};
		await sender.send(shipment(rig.receiver.url()));
		const prototype = TLSSocket.prototype as unknown as { setSession(session: Buffer): void };
		const damaged = vi.spyOn(prototype, "setSession").mockImplementationOnce(boom);
		for (let i = 0; i < 2; i++) expect(text(await sender.send(shipment(rig.receiver.url())))).toBe("ok");
		expect(damaged).toHaveBeenCalledTimes(2);
		expect(resumed).toEqual([false, false, true]);
	});
});

describe("a receiver that floods its connection", () => {
	test("is read only up to its share in one turn, and further in the next", async () => {
		const head = Buffer.from("HTTP/1.1 200 OK\r\nx: y\r\n");
		const drip = Buffer.from("z: z\r\n");
		const turns: number[] = [];
		const { promise: dialed, resolve: onDialed } = Promise.withResolvers<Received>();
		const socket = Object.assign(new FaultySocket(new Set()), { resume: () => turns.push(turns.length) });
		const dialer = faultyDialer((done, received) => {
			done(socket as unknown as Socket);
			onDialed(received);
		});
		const sending = rig.makeSender({ dialer }).send(shipment("https://flood.example/"));
		const receive = await dialed;
		expect(receive(head)).toBe(true);
		let reads = 1;
		while (receive(drip)) reads++;
		// Each read counts as at least 256 bytes of the 64 KiB that one connection may read per turn.
		expect(reads).toBe(255);
		expect(turns).toHaveLength(0);
		await new Promise((resolve) => setImmediate(resolve));
		expect(turns).toHaveLength(1);
		expect(receive(Buffer.from("content-length: 2\r\n\r\nok"))).toBe(true);
		expect(text(await sending)).toBe("ok");
	});

	test("is read to the end of its response, however often reading pauses", async () => {
		const resumed = vi.spyOn(TLSSocket.prototype, "resume");
		const response = `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(70)}content-length: 2\r\n\r\nok`;
		expect(response.length).toBeLessThan(RECEIVERS.reads);
		rig.receiver.answer = byteByByte(response);
		const before = resumed.mock.calls.length;
		expect(text(await rig.sender.send(shipment(rig.receiver.url())))).toBe("ok");
		expect(resumed.mock.calls.length).toBeGreaterThan(before);
	});

	// Thousands of bytes in TLS records of their own once took a twentieth of a second of the main thread.
	test("isn't read any further if its response comes in too many pieces", async () => {
		const status = "HTTP/1.1 200 OK\r\n";
		for (const [response, expected] of [
			[status + "x: y\r\n".repeat(RECEIVERS.reads), { kind: "answered", status: 200, truncated: true }],
			[
				`HTTP/1.1 103 Early\r\n${"x: y\r\n".repeat(RECEIVERS.reads)}`,
				{ kind: "unanswered", reason: "malformed_response" },
			],
		] as const) {
			const reads = vi.spyOn(ResponseParser.prototype, "push");
			rig.receiver.answer = byteByByte(response);
			expect(await rig.sender.send(shipment(rig.receiver.url()))).toMatchObject(expected);
			await rig.receiver.allClosed();
			expect(reads).toHaveBeenCalledTimes(RECEIVERS.reads + 1);
			reads.mockRestore();
		}
		expect(rig.faults).toEqual([]);
	});
});

/** Writes each byte in its own TLS record. */
function byteByByte(response: string): Answer {
	return (socket) => {
		const write = (at: number): void => {
			if (at < response.length && socket.writable) socket.write(response[at]!, () => write(at + 1));
		};
		write(0);
	};
}
