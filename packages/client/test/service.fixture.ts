import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Posthorn, unusedPort } from "@posthorn/testkit";
import { type Client, type ClientOptions, createClient } from "../src/index.ts";

type ProjectClient = Client & { readonly id: string };

const OPERATOR_KEY = "an-operator-key-of-32-characters-or-more";

/** A real service in a folder of its own, which can be killed and started again at the same address. */
export class Service {
	readonly folder: string;
	readonly settings: Record<string, string>;
	#process: Posthorn;

	private constructor(folder: string, settings: Record<string, string>, process: Posthorn) {
		this.folder = folder;
		this.settings = settings;
		this.#process = process;
	}

	static async start(): Promise<Service> {
		const folder = mkdtempSync(join(tmpdir(), "posthorn-client-"));
		const settings = { POSTHORN_PORT: String(await unusedPort()), POSTHORN_OPERATOR_KEY: OPERATOR_KEY };
		return new Service(folder, settings, await Posthorn.start({ settings, cwd: folder }));
	}

	get url(): string {
		return this.#process.url;
	}

	/** A client of a new project, with the project's own key. */
	async project(options: Partial<ClientOptions> = {}): Promise<ProjectClient> {
		const { id, key } = await this.keyOfProject();
		return this.clientOf(id, key, options);
	}

	/** A new project, and a key of its own. */
	async keyOfProject(): Promise<{ readonly id: string; readonly key: string }> {
		const { id } = (await this.post("/v1/projects", { name: "Store" })) as { id: string };
		const { key } = (await this.post(`/v1/projects/${id}/api-keys`, { name: "Client" })) as { key: string };
		return { id, key };
	}

	clientOf(id: string, key: string, options: Partial<ClientOptions> = {}): ProjectClient {
		return { ...createClient({ url: this.url, key, project: id, ...options }), id };
	}

	async post(path: string, body: object): Promise<unknown> {
		const headers = { authorization: `Bearer ${OPERATOR_KEY}`, "content-type": "application/json" };
		const response = await fetch(this.url + path, { method: "POST", headers, body: JSON.stringify(body) });
		if (!response.ok) throw new Error(`POST ${path} → ${response.status} ${await response.text()}`);
		return response.json();
	}

	async get(path: string): Promise<unknown> {
		const response = await fetch(this.url + path, { headers: { authorization: `Bearer ${OPERATOR_KEY}` } });
		if (!response.ok) throw new Error(`GET ${path} → ${response.status} ${await response.text()}`);
		return response.json();
	}

	async delete(path: string): Promise<void> {
		const headers = { authorization: `Bearer ${OPERATOR_KEY}` };
		const response = await fetch(this.url + path, { method: "DELETE", headers });
		if (!response.ok) throw new Error(`DELETE ${path} → ${response.status} ${await response.text()}`);
	}

	kill(): Promise<void> {
		return this.#process.kill();
	}

	async stop(): Promise<void> {
		await this.#process.stopWith(0);
	}

	async startAgain(): Promise<void> {
		this.#process = await Posthorn.start({ settings: this.settings, cwd: this.folder });
	}

	async close(): Promise<void> {
		await this.#process.kill();
		rmSync(this.folder, { recursive: true });
	}
}
