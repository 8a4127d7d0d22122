/** Sends signed 1 KB envelopes as fast as undici's `dispatch` can, without storing anything. */
import { createHmac, createSecretKey, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { Agent, type Dispatcher } from "undici";
import type { LimitReading, LimitTask } from "./limit.ts";
import { EVENT_TYPE, envelope, eventData, now } from "./payload.ts";
import { doTasks } from "./worker-process.ts";

/** Connections are kept through pauses between tasks for this long, milliseconds. */
const KEEP_ALIVE_MS = 600_000;

const sendersByConnections = new Map<number, readonly Line[]>();

doTasks<LimitTask, LimitReading>(async (task) => {
	const lines = sendersByConnections.get(task.connections) ?? connect(task);
	sendersByConnections.set(task.connections, lines);
	const measured = measure(lines, task);
	await Promise.all([measured, ...lines.map((line) => line.run())]);
	return await measured;
});

function connect({ origin, caFile, firstPath, connections }: LimitTask): readonly Line[] {
	const agent = new Agent({
		connections,
		pipelining: 1,
		keepAliveTimeout: KEEP_ALIVE_MS,
		connect: { ca: readFileSync(caFile) },
	});
	return Array.from({ length: connections }, (_, index) => new Line(agent, origin, `/w${firstPath + index}`));
}

async function measure(lines: readonly Line[], { warmUpMs, measureMs }: LimitTask): Promise<LimitReading> {
	await passed(warmUpMs);
	const sent = total(lines);
	const begin = performance.now();
	await passed(measureMs);
	const count = total(lines) - sent;
	const seconds = (performance.now() - begin) / 1_000;
	for (const line of lines) line.stop();
	return count / seconds;
}

function total(lines: readonly Line[]): number {
	return lines.reduce((sum, line) => sum + line.sent, 0);
}

function passed(milliseconds: number): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Sends requests one after the other, each as soon as the previous one got its response. */
class Line implements Dispatcher.DispatchHandler {
	sent = 0;
	readonly #agent: Agent;
	readonly #origin: string;
	readonly #path: string;
	readonly #key = createSecretKey(randomBytes(32));
	#ended = Promise.withResolvers<void>();
	#status = 0;
	#stopped = false;

	constructor(agent: Agent, origin: string, path: string) {
		this.#agent = agent;
		this.#origin = origin;
		this.#path = path;
	}

	/** Resolves once it has stopped. */
	run(): Promise<void> {
		this.#stopped = false;
		this.#ended = Promise.withResolvers();
		this.#send();
		return this.#ended.promise;
	}

	stop(): void {
		this.#stopped = true;
	}

	#send(): void {
		const body = Buffer.from(envelope(eventData(this.sent, now())));
		const timestamp = String(Math.floor(Date.now() / 1_000));
		const signature = createHmac("sha256", this.#key).update(`${timestamp}.`).update(body).digest("hex");
		const headers = [
			"Content-Type",
			"application/json",
			"User-Agent",
			"Service-Webhooks/1.0",
			"X-Service-Event",
			EVENT_TYPE,
			"X-Service-Event-Id",
			"evt_00000000000000000000000000",
			"X-Service-Signature",
			signature,
			"X-Service-Timestamp",
			timestamp,
		];
		this.#agent.dispatch({ origin: this.#origin, path: this.#path, method: "POST", headers, body }, this);
	}

	onRequestStart(): void {}

	onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
		this.#status = status;
	}

	onResponseData(): void {}

	onResponseEnd(): void {
		if (this.#status !== 200) {
			this.#ended.reject(new Error(`The receiver returned ${this.#status} at ${this.#path}.`));
			return;
		}
		this.sent++;
		if (this.#stopped) this.#ended.resolve();
		else this.#send();
	}

	onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
		this.#ended.reject(error);
	}
}
