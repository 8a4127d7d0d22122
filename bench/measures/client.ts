import { readFileSync } from "node:fs";
import { signingKey } from "@posthorn/protocol";
import { HANDSHAKES } from "../../packages/server/src/base/budgets.ts";
import { systemClock } from "../../packages/server/src/base/clock.ts";
import { createHttpSender } from "../../packages/server/src/engine/send/http-sender.ts";
import type { Shipment } from "../../packages/server/src/engine/send/outcome.ts";
import { createGuard } from "../../packages/server/src/net/egress.ts";
import { Handshakes, threadCpuMs } from "../../packages/server/src/net/tls/handshakes.ts";
import type { Receiver } from "../load/receiver.ts";
import type { Progress } from "../progress.ts";
import type { ClientCost } from "../results.ts";
import { median } from "../side-by-side.ts";

const TIMEOUT_MS = 10_000;
const BODY_BYTES = 1_024;
/** Requests in flight on kept connections. */
const PARALLEL = 16;
const ROUNDS = 9;
/** Per round. */
const REQUESTS = 4_000;
const HANDSHAKES_PER_ROUND = 400;

/** Main-thread CPU time of only the HTTP client: for a request on a kept connection, and for one on a new connection. */
export async function measureClient(receiver: Receiver, progress: Progress): Promise<readonly ClientCost[]> {
	const costs = new Map<string, number[]>();
	progress.start("HTTP client");
	for (let round = 0; round < ROUNDS; round++) {
		progress.update(round, ROUNDS);
		for (const metered of [false, true]) {
			const name = metered ? "metered" : "unmetered";
			const add = (what: string, us: number): void => {
				costs.set(`${what}, ${name}`, [...(costs.get(`${what}, ${name}`) ?? []), us]);
			};
			add("a request on a kept connection", await costOfRequests(receiver, metered));
			add("a new connection with a resumed session, and a request", await costOfHandshakes(receiver, metered));
		}
	}
	progress.finish("");
	return [...costs].map(([what, us]) => ({ what, us: Math.round(10 * median(us)) / 10 }));
}

function createSender(receiver: Receiver, metered: boolean, idleConnections: number) {
	return createHttpSender({
		clock: systemClock,
		random: Math.random,
		guard: createGuard({ allow: ["127.0.0.0/8"] }),
		brand: "Service",
		timeoutMs: TIMEOUT_MS,
		extraCa: readFileSync(receiver.caFile, "utf8"),
		idleConnections,
		handshakes: new Handshakes({
			clock: systemClock,
			random: () => (metered ? 0 : 1),
			readCpuMs: threadCpuMs,
		}),
		onFault: (error) => {
			throw error;
		},
	});
}

/** Those of metered connections include the handshakes that follow from closing them after some requests. */
async function costOfRequests(receiver: Receiver, metered: boolean): Promise<number> {
	const sender = createSender(receiver, metered, PARALLEL);
	const shipment = shipmentTo(receiver);
	// The first connections are metered in any case.
	for (let n = 0; n < 2 * HANDSHAKES.requestsPerConnection; n++)
		await inParallel(PARALLEL, () => sender.send(shipment));
	const begun = threadCpuMs();
	for (let n = 0; n < REQUESTS / PARALLEL; n++) await inParallel(PARALLEL, () => sender.send(shipment));
	const cpuMs = threadCpuMs() - begun;
	await sender.close();
	return (1_000 * cpuMs) / REQUESTS;
}

async function costOfHandshakes(receiver: Receiver, metered: boolean): Promise<number> {
	const sender = createSender(receiver, metered, 0);
	const shipment = shipmentTo(receiver);
	for (let n = 0; n < HANDSHAKES_PER_ROUND / 10; n++) await sender.send(shipment);
	const begun = threadCpuMs();
	for (let n = 0; n < HANDSHAKES_PER_ROUND; n++) await sender.send(shipment);
	const cpuMs = threadCpuMs() - begun;
	await sender.close();
	return (1_000 * cpuMs) / HANDSHAKES_PER_ROUND;
}

async function inParallel(count: number, run: () => Promise<unknown>): Promise<void> {
	await Promise.all(Array.from({ length: count }, run));
}

function shipmentTo(receiver: Receiver): Shipment {
	return {
		eventId: "evt_01jd0000000000000000000000",
		eventType: "purchase.completed",
		body: Buffer.alloc(BODY_BYTES, "x"),
		target: { projectId: "proj", url: `${receiver.origin}/w0`, key: signingKey(Buffer.alloc(32)), active: true },
		mayLeave: () => true,
	};
}
