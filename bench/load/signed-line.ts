import { createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import type { Agent, Dispatcher } from "undici";
import { EVENT_TYPE, envelope, eventData, now } from "./payload.ts";

/** Sends signed 1 KB envelopes one after the other, each as soon as the previous one got its response. */
export class SignedLine implements Dispatcher.DispatchHandler {
	sent = 0;
	readonly #agent: Agent;
	readonly #origin: string;
	readonly #path: string;
	readonly #key = createSecretKey(randomBytes(32));
	#ended = Promise.withResolvers<void>();
	#status = 0;
	/** How many to send until it stops. */
	#last = 0;

	constructor(agent: Agent, origin: string, path: string) {
		this.#agent = agent;
		this.#origin = origin;
		this.#path = path;
	}

	/** Resolves once it has sent `count`, or has been stopped. */
	run(count = Number.POSITIVE_INFINITY): Promise<void> {
		this.#last = this.sent + count;
		this.#ended = Promise.withResolvers();
		this.#send();
		return this.#ended.promise;
	}

	stop(): void {
		this.#last = this.sent;
	}

	#send(): void {
		const body = Buffer.from(envelope(eventData(this.sent, now())));
		const headers = signedHeaders(this.#key, body, "evt_00000000000000000000000000");
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
		if (this.sent >= this.#last) this.#ended.resolve();
		else this.#send();
	}

	onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
		this.#ended.reject(error);
	}
}

/** The headers of a delivery, as undici takes them: names and values in turn. */
export function signedHeaders(key: KeyObject, body: Buffer, eventId: string): string[] {
	const timestamp = String(Math.floor(Date.now() / 1_000));
	const signature = createHmac("sha256", key).update(`${timestamp}.`).update(body).digest("hex");
	return [
		"Content-Type",
		"application/json",
		"User-Agent",
		"Service-Webhooks/1.0",
		"X-Service-Event",
		EVENT_TYPE,
		"X-Service-Event-Id",
		eventId,
		"X-Service-Signature",
		signature,
		"X-Service-Timestamp",
		timestamp,
	];
}
