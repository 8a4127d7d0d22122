import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	createAuthority,
	Posthorn,
	type PosthornOptions,
	startReceiver,
	unusedPort,
	writeCaFile,
} from "@posthorn/testkit";

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export interface ApiResponse {
	readonly status: number;
	// biome-ignore lint/suspicious/noExplicitAny: tests read any response of the service
	readonly body: any;
}

/** A service in its own process with its database in its own folder, receivers, and an API client. */
export class Shop {
	readonly folder: string;
	readonly operatorKey = randomBytes(24).toString("hex");
	readonly receivers: Receiver[] = [];
	readonly settings: Record<string, string>;
	readonly #authority: Awaited<ReturnType<typeof createAuthority>>;
	service!: Posthorn;
	projectId = "";

	private constructor(
		folder: string,
		authority: Awaited<ReturnType<typeof createAuthority>>,
		port: number,
		caFile: string,
		settings: Record<string, string>,
	) {
		this.folder = folder;
		this.#authority = authority;
		this.settings = {
			POSTHORN_PORT: String(port),
			POSTHORN_DATABASE_URL: `sqlite:${join(this.folder, "posthorn.db")}`,
			POSTHORN_OPERATOR_KEY: this.operatorKey,
			POSTHORN_EGRESS_ALLOW: "127.0.0.0/8,::1/128",
			POSTHORN_EGRESS_CA_FILE: caFile,
			POSTHORN_LOG_LEVEL: "warn",
			...settings,
		};
	}

	static async open(settings: Record<string, string> = {}): Promise<Shop> {
		const authority = await createAuthority();
		const folder = mkdtempSync(join(tmpdir(), "posthorn-e2e-"));
		const shop = new Shop(folder, authority, await unusedPort(), writeCaFile(authority, folder), settings);
		await shop.start();
		shop.projectId = (await shop.post("/v1/projects", { name: "A store" })).body.id;
		return shop;
	}

	/** @param more settings and options for Node, of this start only */
	async start({ settings = {}, nodeOptions = [] }: Partial<PosthornOptions> = {}): Promise<void> {
		this.service = await Posthorn.start({ settings: { ...this.settings, ...settings }, nodeOptions });
	}

	async receiver(options: Omit<Parameters<typeof startReceiver>[0], "authority"> = {}): Promise<Receiver> {
		const receiver = await startReceiver({ authority: this.#authority, ...options });
		this.receivers.push(receiver);
		return receiver;
	}

	/** Registers a webhook; if the receiver is one of ours, it verifies with the webhook's secret from then on. */
	async webhook(url: string, more: object = {}): Promise<{ id: string; secret: string }> {
		const { status, body } = await this.post(this.path("/webhooks"), { url, events: ["purchase.completed"], ...more });
		if (status !== 201) throw new Error(`not registered: ${JSON.stringify(body)}`);
		this.receivers.find((receiver) => url.startsWith(new URL(receiver.url("/")).origin))?.setSecret(body.secret);
		return body;
	}

	path(rest: string): string {
		return `/v1/projects/${this.projectId}${rest}`;
	}

	get = (path: string): Promise<ApiResponse> => this.call("GET", path);
	post = (path: string, body: unknown): Promise<ApiResponse> => this.call("POST", path, JSON.stringify(body));
	patch = (path: string, body: unknown): Promise<ApiResponse> => this.call("PATCH", path, JSON.stringify(body));
	delete = (path: string): Promise<ApiResponse> => this.call("DELETE", path);

	async call(method: string, path: string, body?: string): Promise<ApiResponse> {
		const response = await fetch(this.service.url + path, {
			method,
			headers: {
				authorization: `Bearer ${this.operatorKey}`,
				...(body !== undefined && { "content-type": "application/json" }),
			},
			...(body !== undefined && { body }),
		});
		const text = await response.text();
		return { status: response.status, body: text === "" ? null : JSON.parse(text) };
	}

	/** All rows of a list, page by page. */
	// biome-ignore lint/suspicious/noExplicitAny: tests read any response of the service
	async all(path: string): Promise<any[]> {
		const rows = [];
		for (let cursor: string | null = ""; cursor !== null; ) {
			const page = await this.get(`${path}${path.includes("?") ? "&" : "?"}limit=200${cursor && `&cursor=${cursor}`}`);
			rows.push(...page.body.data);
			cursor = page.body.next_cursor;
		}
		return rows;
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.service.kill();
		await Promise.all(this.receivers.map((receiver) => receiver.close()));
		rmSync(this.folder, { recursive: true });
	}
}

/** A purchase as a store would report it. */
export function purchase(n: number): object {
	return {
		type: "purchase.completed",
		data: {
			order_id: `ord_${n}`,
			customer_email: `buyer${n}@example.com`,
			amount_cents: 1000 + n,
			currency: "EUR",
			items: [{ product_id: "vip", name: "VIP rank", quantity: 1, unit_amount_cents: 1000 + n }],
			n,
		},
	};
}
