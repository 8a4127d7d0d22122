import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { beforeEach, expect, test } from "vitest";
import { createCostlyChain } from "../../../../testkit/src/tls/certificate-chain.ts";
import { HANDSHAKES } from "../../base/budgets.ts";
import { systemClock, type Timer } from "../../base/clock.ts";
import { answered, shipment } from "../../engine/send/receiver.fixture.ts";
import { makeHandshakes, Rig, text } from "../../engine/send/rig.fixture.ts";
import { type CostlyHandshake, threadCpuMs } from "./handshakes.ts";

/** Checking it takes several times the CPU time that is allowed. */
const COSTLY = createCostlyChain(50);
/** It has more bytes than are allowed. */
const LONG = createCostlyChain(97);

/** A third, so that ordinary handshakes stay cheap on a busy machine. The chain takes far more. */
const readCpuMs = (): number => threadCpuMs() / 3;

const rig = new Rig();
let costly: CostlyHandshake[];
let clock: SkippingClock;
let random: number;
let sender: Rig["sender"];

/** The machine's clock, which a test can also move forward. */
class SkippingClock {
	readonly now = systemClock.now;
	readonly setImmediate = systemClock.setImmediate;
	readonly #timers = new Set<{ readonly at: number; fire(): void }>();
	#skipped = 0;

	elapsed(): number {
		return performance.now() + this.#skipped;
	}

	setTimeout(fire: () => void, ms: number): Timer {
		const timer = { at: this.elapsed() + ms, fire };
		this.#timers.add(timer);
		return { cancel: () => void this.#timers.delete(timer) };
	}

	skip(ms: number): void {
		this.#skipped += ms;
		for (const timer of this.#timers)
			if (timer.at <= this.elapsed()) {
				this.#timers.delete(timer);
				timer.fire();
			}
	}
}

beforeEach(() => {
	costly = [];
	random = 1;
	clock = new SkippingClock();
	const onCostly = (handshake: CostlyHandshake): void => {
		costly.push(handshake);
	};
	sender = rig.makeSender({
		handshakes: makeHandshakes({ clock, random: () => random, readCpuMs, onCostly }),
	});
});

async function send(url: string, projectId = "proj_1"): Promise<string> {
	const { target, ...rest } = shipment(url);
	return text(await sender.send({ ...rest, target: { ...target, projectId } }));
}

const restMs = (): number => HANDSHAKES.restFactor * costly.reduce((sum, { cpuMs }) => sum + cpuMs + 1, 0);

// Each of its connections took the main thread for a tenth of a second.
test("a receiver with a costly certificate chain is connected to rarely", async () => {
	const hostile = await rig.listen(COSTLY);
	expect(await send(hostile.url())).toBe("tls_untrusted");
	expect(costly).toMatchObject([{ projectId: "proj_1", host: `localhost:${hostile.port}` }]);
	expect(costly[0]!.cpuMs).toBeGreaterThan(HANDSHAKES.cpuMs);
	const connections = hostile.tcpConnections;
	const next = send(hostile.url());
	expect(await send(rig.receiver.url(), "proj_2")).toBe("ok");
	expect(hostile.tcpConnections).toBe(connections);
	clock.skip(restMs());
	expect(await next).toBe("tls_costly");
	expect(hostile.tcpConnections).toBe(connections + 1);
	expect(costly).toHaveLength(2);
	expect(rig.faults).toEqual([]);
});

test("other receivers of its project wait if they are new, and aren't affected if they have proven cheap", async () => {
	const [hostile, fresh] = [await rig.listen(COSTLY), await rig.listen()];
	expect(await send(rig.receiver.url())).toBe("ok");
	await send(hostile.url());
	const waiting = send(fresh.url());
	rig.receiver.answer = answered(200, "again", "connection: close\r\n");
	for (let n = 0; n < 3; n++) expect(await send(rig.receiver.url())).toBe("again");
	expect(fresh.tcpConnections).toBe(0);
	clock.skip(restMs());
	expect(await waiting).toBe("ok");
});

test("an attempt that had to wait until its deadline says why", async () => {
	const [hostile, fresh] = [await rig.listen(COSTLY), await rig.listen()];
	sender = rig.makeSender({ handshakes: makeHandshakes({ clock, readCpuMs }), timeoutMs: 1_000 });
	await send(hostile.url());
	expect(await send(fresh.url())).toBe("tls_costly");
	expect(fresh.tcpConnections).toBe(0);
});

test("a chain that is too long is refused before it is checked", async () => {
	const hostile = await rig.listen(LONG);
	expect(await send(hostile.url())).toBe("tls_costly");
	expect(costly[0]!.bytes).toBeGreaterThan(HANDSHAKES.bytes);
});

test("a receiver that shows a costly chain only later is metered from then on", async () => {
	const receiver = await rig.listen();
	receiver.answer = answered(200, "ok", "connection: close\r\n");
	expect(await send(receiver.url())).toBe("ok");
	// The server's certificates for new connections. It doesn't resume sessions of its other ones.
	receiver.replaceCredentials(COSTLY);
	expect(await send(receiver.url())).toBe("tls_untrusted");
	expect(costly).toEqual([]);
	expect(await send(receiver.url())).toBe("tls_untrusted");
	expect(costly).toHaveLength(1);
});

test("the project's other handshakes in progress start again", async () => {
	const hostile = await rig.listen(COSTLY);
	const connections: Socket[] = [];
	const silentAtFirst = createServer((near) => {
		near.on("error", () => near.destroy());
		if (connections.push(near) > 1) near.pipe(connect(rig.receiver.port, "127.0.0.1")).pipe(near);
	});
	silentAtFirst.listen(0, "127.0.0.1");
	await once(silentAtFirst, "listening");
	const connected = once(silentAtFirst, "connection");
	const sending = send(`https://localhost:${(silentAtFirst.address() as AddressInfo).port}/`);
	await connected;
	await send(hostile.url());
	clock.skip(restMs());
	expect(await sending).toBe("ok");
	expect(connections).toHaveLength(2);
	silentAtFirst.close();
	for (const connection of connections) connection.destroy();
});

test("a metered connection is kept for a limited number of requests", async () => {
	for (let n = 0; n < 2 * HANDSHAKES.requestsPerConnection; n++) expect(await send(rig.receiver.url())).toBe("ok");
	const counts = [0, 0];
	for (const { connection } of rig.receiver.requests) counts[connection]!++;
	expect(counts).toEqual([HANDSHAKES.requestsPerConnection, HANDSHAKES.requestsPerConnection]);
	for (let n = 0; n < 2; n++) expect(await send(rig.receiver.url())).toBe("ok");
	expect(rig.receiver.sockets).toHaveLength(2);
});

test("a metered connection delivers large requests and responses", async () => {
	const body = `{"pad":"${"x".repeat(200_000)}"}`;
	rig.receiver.answer = (socket, request) =>
		answered(200, request.body.toString() === body ? "same" : "other", `x: ${"y".repeat(15_000)}\r\n`)(socket, request);
	random = 0;
	for (let n = 0; n < 3; n++) expect(text(await sender.send(shipment(rig.receiver.url(), body)))).toBe("same");
});
