import { Pool } from "undici";

/** Concurrent requests to the API while projects and webhooks are set up. */
const SETUP_IN_FLIGHT = 8;

/** The calls of the service's HTTP API that the benchmarks need, with the operator's key. */
export class Api {
	readonly origin: string;
	readonly key: string;
	readonly #pool: Pool;

	constructor(origin: string, key: string) {
		this.origin = origin;
		this.key = key;
		this.#pool = new Pool(origin, { connections: SETUP_IN_FLIGHT });
	}

	/** Whether the service reports that it is ready. */
	async isReady(): Promise<boolean> {
		const { statusCode, body } = await this.#pool.request({ method: "GET", path: "/readyz" });
		await body.dump();
		return statusCode === 200;
	}

	/** The service's metrics, as text. */
	async metrics(): Promise<string> {
		const { body } = await this.#pool.request({ method: "GET", path: "/metrics" });
		return body.text();
	}

	/** Trusts the service's clock after it was off for long. */
	async confirmClock(): Promise<void> {
		await this.#call("POST", "/v1/clock/confirm", {});
	}

	/** The new project's identifier. */
	async createProject(name: string): Promise<string> {
		return idOf(await this.#call("POST", "/v1/projects", { name }));
	}

	/** The new webhook's identifier. */
	async createWebhook(projectId: string, url: string, events: readonly string[], maxInFlight = 1): Promise<string> {
		const webhook = { url, events, max_in_flight: maxInFlight };
		return idOf(await this.#call("POST", `/v1/projects/${projectId}/webhooks`, webhook));
	}

	/** A new key of the project. */
	async createKey(projectId: string): Promise<string> {
		const { key } = (await this.#call("POST", `/v1/projects/${projectId}/api-keys`, { name: "bench" })) as {
			key: string;
		};
		return key;
	}

	/** Finds events by an order id, and returns whether all of the project's events are indexed by then. */
	async findOrder(projectId: string, orderId: string): Promise<{ readonly found: number; readonly complete: boolean }> {
		const path = `/v1/projects/${projectId}/events/search?order_id=${encodeURIComponent(orderId)}`;
		const { data, searched } = (await this.#call("GET", path)) as {
			data: unknown[];
			searched: { complete: boolean };
		};
		return { found: data.length, complete: searched.complete };
	}

	async setStatus(projectId: string, webhookId: string, status: "active" | "paused"): Promise<void> {
		await this.#call("PATCH", `/v1/projects/${projectId}/webhooks/${webhookId}`, { status });
	}

	/** Calls `make` with 0 to `count - 1`, a few at a time. */
	async setUp<Made>(count: number, make: (index: number) => Promise<Made>): Promise<Made[]> {
		const made: Made[] = [];
		let next = 0;
		const work = async () => {
			while (next < count) {
				const index = next++;
				made[index] = await make(index);
			}
		};
		await Promise.all(Array.from({ length: SETUP_IN_FLIGHT }, work));
		return made;
	}

	async close(): Promise<void> {
		await this.#pool.destroy();
	}

	async #call(method: "GET" | "POST" | "PATCH", path: string, body?: object): Promise<unknown> {
		const answer = await this.#pool.request({
			method,
			path,
			headers: { authorization: `Bearer ${this.key}`, "content-type": "application/json" },
			body: JSON.stringify(body),
		});
		const text = await answer.body.text();
		if (answer.statusCode >= 300) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text}`);
		return JSON.parse(text);
	}
}

function idOf(answer: unknown): string {
	if (typeof answer === "object" && answer !== null && "id" in answer && typeof answer.id === "string")
		return answer.id;
	throw new Error(`The API's response has no id: ${JSON.stringify(answer)}`);
}
