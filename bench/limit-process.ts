/** Sends signed 1 KB envelopes as fast as undici's `dispatch` can, without storing anything. */
import { createHmac, createSecretKey, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { Agent, type Dispatcher } from "undici";
import type { LimitReading, LimitTask } from "./limit.ts";
import { EVENT_TYPE, envelope, eventData, now } from "./payload.ts";
import { doTask } from "./worker-process.ts";

doTask<LimitTask, LimitReading>(async ({ origin, caFile, firstPath, connections, warmUpMs, measureMs }) => {
	const agent = new Agent({ connections, pipelining: 1, connect: { ca: readFileSync(caFile) } });
	const lines = Array.from({ length: connections }, (_, index) => new Line(agent, origin, `/w${firstPath + index}`));
	const measured = measure(lines, warmUpMs, measureMs);
	await Promise.all([measured, ...lines.map((line) => line.run())]);
	await agent.close();
	return await measured;
});

async function measure(lines: readonly Line[], warmUpMs: number, measureMs: number): Promise<LimitReading> {
	await passed(warmUpMs);
	const sent = total(lines);
	const begin = performance.now();
	const cpu = process.cpuUsage();
	await passed(measureMs);
	const count = total(lines) - sent;
	const seconds = (performance.now() - begin) / 1_000;
	const { user, system } = process.cpuUsage(cpu);
	for (const line of lines) line.stop();
	return { perSecond: count / seconds, cpuMicros: (user + system) / Math.max(1, count) };
}

function total(lines: readonly Line[]): number {
	return lines.reduce((sum, line) => sum + line.sent, 0);
}

function passed(milliseconds: number): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** One request after the other, each as soon as the one before it was answered. */
class Line implements Dispatcher.DispatchHandler {
	sent = 0;
	readonly #agent: Agent;
	readonly #origin: string;
	readonly #path: string;
	readonly #key = createSecretKey(randomBytes(32));
	readonly #ended = Promise.withResolvers<void>();
	#status = 0;
	#stopped = false;

	constructor(agent: Agent, origin: string, path: string) {
		this.#agent = agent;
		this.#origin = origin;
		this.#path = path;
	}

	run(): Promise<void> {
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
			this.#ended.reject(new Error(`The receiver answered ${this.#status} at ${this.#path}.`));
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
