import { readFileSync } from "node:fs";
import { Posthorn, type PosthornOptions, until, unusedPort } from "@posthorn/testkit";

/** A caller's timeout, milliseconds, even on a machine that is busy with other tests. */
const PATIENCE_MS = 30_000;
/** Interval between polls of a node's readiness, milliseconds. */
const ASK_MS = 100;
/** The kernel's unit of processor time, milliseconds (`getconf CLK_TCK` is 100 on every Linux that we know). */
const TICK_MS = 10;

export interface ApiResponse {
	readonly status: number;
	// biome-ignore lint/suspicious/noExplicitAny: tests read any response of the service
	readonly body: any;
}

/** A node, with counts of what it costs. */
export class SiteNode {
	readonly service: Posthorn;
	readonly #key: string;
	#lines = 0;

	private constructor(service: Posthorn, key: string) {
		this.service = service;
		this.#key = key;
		const count = (text: Buffer): void => {
			for (const byte of text) if (byte === 0x0a) this.#lines++;
		};
		service.process.stdout!.on("data", count);
		service.process.stderr!.on("data", count);
	}

	static async start(
		settings: Readonly<Record<string, string>>,
		options: Pick<PosthornOptions, "nodeOptions" | "cwd"> = {},
	): Promise<SiteNode> {
		const port = String(await unusedPort());
		const service = await Posthorn.start({ settings: { ...settings, POSTHORN_PORT: port }, ...options });
		return new SiteNode(service, settings.POSTHORN_OPERATOR_KEY!);
	}

	/** Rejects if it doesn't respond in time. */
	async call(method: string, path: string, body?: unknown, patienceMs = PATIENCE_MS): Promise<ApiResponse> {
		const response = await fetch(this.service.url + path, {
			method,
			headers: { authorization: `Bearer ${this.#key}`, "content-type": "application/json" },
			signal: AbortSignal.timeout(patienceMs),
			...(body !== undefined && { body: JSON.stringify(body) }),
		});
		const text = await response.text();
		return { status: response.status, body: text === "" ? null : JSON.parse(text) };
	}

	/** Resolves when it reports that it is ready (200) or not (503). */
	async untilReadiness(status: 200 | 503): Promise<void> {
		await until(`readiness ${status}`, async () => {
			if ((await this.call("GET", "/readyz")).status === status) return true;
			await new Promise((go) => setTimeout(go, ASK_MS));
			return false;
		});
	}

	/** Polls /readyz. @returns a function that stops polling and returns all statuses */
	probe(): () => Promise<number[]> {
		const statuses: number[] = [];
		let isOver = false;
		const asking = (async () => {
			while (!isOver) {
				statuses.push((await this.call("GET", "/readyz")).status);
				await new Promise((go) => setTimeout(go, ASK_MS));
			}
		})();
		return async () => {
			isOver = true;
			await asking;
			return statuses;
		};
	}

	/** Lines that it has written to its log. */
	get logLines(): number {
		return this.#lines;
	}

	/** Processor time that it has used, milliseconds; null if the system doesn't report it (it isn't Linux). */
	get cpuMs(): number | null {
		if (process.platform !== "linux") return null;
		const stat = readFileSync(`/proc/${this.service.process.pid}/stat`, "utf8");
		const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
	}
}
