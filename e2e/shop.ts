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

type Authority = Awaited<ReturnType<typeof createAuthority>>;

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export interface ApiResponse {
	readonly status: number;
	// biome-ignore lint/suspicious/noExplicitAny: tests read any response of the service
	readonly body: any;
}

/** A service in its own process with its database in its own folder, receivers, and an API client. */
export class Shop {
	readonly folder: string;
	readonly operatorKey: string;
	readonly receivers: Receiver[] = [];
	readonly settings: Record<string, string>;
	readonly #authority: Authority;
	readonly #ownsService: boolean;
	service!: Posthorn;
	projectId = "";

	private constructor(
		folder: string,
		authority: Authority,
		operatorKey: string,
		settings: Record<string, string>,
		ownsService: boolean,
	) {
		this.folder = folder;
		this.operatorKey = operatorKey;
		this.settings = settings;
		this.#authority = authority;
		this.#ownsService = ownsService;
	}

	static async open(settings: Record<string, string> = {}): Promise<Shop> {
		const authority = await createAuthority();
		const folder = mkdtempSync(join(tmpdir(), "posthorn-e2e-"));
		const operatorKey = randomBytes(24).toString("hex");
		const all = {
			POSTHORN_PORT: String(await unusedPort()),
			POSTHORN_DATABASE_URL: `sqlite:${join(folder, "posthorn.db")}`,
			POSTHORN_OPERATOR_KEY: operatorKey,
			POSTHORN_EGRESS_ALLOW: "127.0.0.0/8,::1/128",
			POSTHORN_EGRESS_CA_FILE: writeCaFile(authority, folder),
			POSTHORN_LOG_LEVEL: "warn",
			...settings,
		};
		const shop = new Shop(folder, authority, operatorKey, all, true);
		try {
			await shop.start();
			await shop.#createProject();
			return shop;
		} catch (error) {
			await shop[Symbol.asyncDispose]();
			throw error;
		}
	}

	/** A shop with a project and receivers of its own, on the same service. That runs on when this shop closes. */
	async another(): Promise<Shop> {
		const shop = new Shop(this.folder, this.#authority, this.operatorKey, this.settings, false);
		shop.service = this.service;
		await shop.#createProject();
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
		// Not there if it couldn't be started.
		if (this.#ownsService) await (this.service as Posthorn | undefined)?.kill();
		try {
			await Promise.all(this.receivers.map((receiver) => receiver.close()));
		} finally {
			if (this.#ownsService) rmSync(this.folder, { recursive: true });
		}
	}

	async #createProject(): Promise<void> {
		const { status, body } = await this.post("/v1/projects", { name: "A store" });
		if (status !== 201) throw new Error(`no project: ${JSON.stringify(body)}`);
		this.projectId = body.id;
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
