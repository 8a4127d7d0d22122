import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	createAuthority,
	type ReceivedRequest,
	Signal,
	settingsOfNodes,
	startReceiver,
	until,
	verifyRequest,
	writeCaFile,
} from "@posthorn/testkit";
import { type ApiResponse, SiteNode } from "./node.ts";

const TYPE = "purchase.completed";
/** Webhooks per project. */
const WEBHOOKS = 2;

export interface NodePlan {
	/** The database URL that this node uses. */
	readonly database: string;
	/** Options for Node itself. */
	readonly nodeOptions?: readonly string[];
	/** Its working directory. */
	readonly cwd?: string;
}

export interface SiteOptions {
	readonly nodes: readonly NodePlan[];
	readonly projects?: number;
	readonly settings?: Readonly<Record<string, string>>;
	/** The possible offsets of the nodes' clocks, milliseconds. */
	readonly clocks?: readonly number[];
	/** The receivers' status codes; by default, 200. */
	readonly answer?: (arrival: Arrival, before: readonly Arrival[]) => number | Promise<number>;
}

export interface SiteWebhook {
	readonly id: string;
	readonly projectId: string;
	/** The requests to its receiver, in order of arrival. */
	readonly arrivals: Arrival[];
}

/** A request that a receiver got, with its signature and timestamp verified. */
export interface Arrival {
	readonly eventId: string;
	/** On the receiver's clock, milliseconds. */
	readonly at: number;
	/** The offset of the clock that signed it, milliseconds: one of the site's clocks. */
	readonly clock: number;
	/** The status of the response; undefined until then. */
	status?: number;
}

/**
 * Nodes on one PostgreSQL, projects with webhooks, and a receiver that checks and remembers everything that arrives. The
 * first node starts before the others, so that it owns every project.
 */
export class Site {
	readonly nodes: SiteNode[] = [];
	readonly webhooks: SiteWebhook[] = [];
	readonly projectIds: string[] = [];
	readonly #folder = mkdtempSync(join(tmpdir(), "posthorn-site-"));
	readonly #options: SiteOptions;
	readonly #signal = new Signal();
	#settings: Readonly<Record<string, string>> = {};
	#receiver!: Awaited<ReturnType<typeof startReceiver>>;
	readonly #byPath = new Map<string, SiteWebhook & { readonly secret: string }>();

	private constructor(options: SiteOptions) {
		this.#options = options;
	}

	static async open(options: SiteOptions): Promise<Site> {
		const site = new Site(options);
		await site.#open();
		return site;
	}

	async #open(): Promise<void> {
		const authority = await createAuthority();
		this.#settings = {
			...settingsOfNodes(writeCaFile(authority, this.#folder)),
			...this.#options.settings,
		};
		const [first, ...others] = this.#options.nodes;
		await this.add(first!);
		this.#receiver = await startReceiver({ authority, keep: 1, respond: (request) => this.#respond(request) });
		await Promise.all(Array.from({ length: this.#options.projects ?? 4 }, (_, i) => this.#addProject(i)));
		await Promise.all(others.map((plan) => this.add(plan)));
	}

	async #addProject(i: number): Promise<void> {
		const node = this.nodes[0]!;
		const { id: projectId } = (await node.call("POST", "/v1/projects", { name: `Store ${i}` })).body;
		this.projectIds.push(projectId);
		for (let w = 0; w < WEBHOOKS; w++) {
			const path = `/${i}/${w}`;
			const hook = { url: this.#receiver.url(path), events: [TYPE] };
			const { status, body } = await node.call("POST", `/v1/projects/${projectId}/webhooks`, hook);
			if (status !== 201) throw new Error(`Not registered: ${JSON.stringify(body)}`);
			const webhook = { id: body.id, projectId, arrivals: [], secret: body.secret };
			this.#byPath.set(path, webhook);
			this.webhooks.push(webhook);
		}
	}

	async #respond(request: ReceivedRequest): Promise<{ status: number }> {
		const { secret, arrivals } = this.#byPath.get(request.path)!;
		const clocks = this.#options.clocks ?? [0];
		const clock = clocks.find((off) => {
			const { headers, rawBody, receivedAt } = request;
			return verifyRequest({ secret, headers, rawBody, now: receivedAt + off }).ok;
		});
		if (clock === undefined) throw new Error(`A request to ${request.path} has a wrong signature.`);
		const { id: eventId } = request.body as { id: string };
		const { answer } = this.#options;
		const before = answer ? arrivals.filter((arrival) => arrival.eventId === eventId) : [];
		const arrival: Arrival = { eventId, at: request.receivedAt, clock };
		arrivals.push(arrival);
		this.#signal.look();
		const status = (await answer?.(arrival, before)) ?? 200;
		arrival.status = status;
		this.#signal.look();
		return { status };
	}

	/**
	 * Resolves once `fits` returns true: it is called with every request that a receiver gets, and with every response.
	 */
	untilReceived(what: string, fits: () => boolean): Promise<void> {
		return this.#signal.until(what, fits);
	}

	/** A call of any node that responds. */
	async ask(method: string, path: string, body?: unknown): Promise<ApiResponse> {
		let turn = 0;
		return until(`a node to respond to ${method} ${path}`, async () => {
			const node = this.nodes[turn++ % this.nodes.length]!;
			const answer = await node.call(method, path, body).catch(() => null);
			return answer !== null && answer.status < 500 && answer;
		});
	}

	async add({ database, ...options }: NodePlan): Promise<void> {
		const settings = { ...this.#settings, POSTHORN_DATABASE_URL: database };
		this.nodes.push(await SiteNode.start(settings, options));
	}

	/**
	 * Asks a node to stop; it gets no further calls. Rejects with its last log lines unless it ends with this exit code.
	 */
	async stop(node: SiteNode, code = 0): Promise<void> {
		this.nodes.splice(this.nodes.indexOf(node), 1);
		await node.service.stopWith(code);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await Promise.all(this.nodes.map((node) => node.service.kill()));
		await this.#receiver?.close();
		rmSync(this.#folder, { recursive: true });
	}
}
