import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { Connections, reset } from "./connections.ts";
import { Inbox, type WaitOptions } from "./inbox.ts";
import type { Authority } from "./tls/certificates.ts";
import { verifyRequest } from "./verify.ts";

export interface ReceivedRequest {
	readonly method: string;
	/** With its query. */
	readonly path: string;
	/** Lower-cased names; values of a name sent several times are joined with `, `. */
	readonly headers: Readonly<Record<string, string>>;
	/** Name and value as sent, in order. */
	readonly rawHeaders: readonly (readonly [name: string, value: string])[];
	readonly rawBody: Buffer;
	/** The body parsed as JSON; undefined if it isn't JSON. */
	readonly body: unknown;
	/** When it was completely read, epoch milliseconds. */
	readonly receivedAt: number;
	/** Whether signature and timestamp are valid; null without a secret. */
	readonly verified: boolean | null;
	/** Which of the receiver's connections it came over, from 1. */
	readonly connection: number;
}

export interface ScriptedResponse {
	/** By default, 200. */
	readonly status?: number;
	readonly headers?: Readonly<Record<string, string | readonly string[]>>;
	readonly body?: string | Uint8Array;
	/** How long to wait before responding, milliseconds. */
	readonly delayMs?: number;
}

/** `hang`: never respond. `reset`: break the connection with an RST. */
export type Action = ScriptedResponse | "hang" | "reset";

/** @param n how many requests this receiver has received, including this one */
export type Respond = (request: ReceivedRequest, n: number) => Action | Promise<Action>;

export type Secret = string | ((path: string) => string | undefined);

export interface ReceiverOptions {
	readonly authority: Authority;
	/** What the certificate is for: DNS names and IP literals. By default, loopback. */
	readonly hosts?: readonly string[];
	/** By default, any free one. */
	readonly port?: number;
	/** The address to listen on. By default, 127.0.0.1. */
	readonly host?: string;
	/** The secrets to verify requests with: one for all, or one per path. By default, none. */
	readonly secret?: Secret | undefined;
	/** The word in the header names. By default, `Service`. */
	readonly brand?: string;
	/** By default, 200 `ok`. */
	readonly respond?: Respond;
	/** How many requests to keep, the newest. By default, 10,000. */
	readonly keep?: number;
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Starts an HTTPS server on loopback that keeps and checks requests, and responds as configured. */
export async function startReceiver(options: ReceiverOptions) {
	const { authority, hosts, host = "127.0.0.1", brand } = options;
	let { secret, respond = (): Action => ({}) } = options;
	const inbox = new Inbox<ReceivedRequest>(options.keep ?? 10_000, describe);

	const server = createServer(
		{ ...(await authority.issue(hosts ? { hosts } : {})), keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 },
		(incoming, outgoing) => {
			handle(incoming, outgoing).catch((error: unknown) => {
				inbox.fail(new Error("The receiver's `respond` failed.", { cause: error }));
				if (outgoing.headersSent) outgoing.destroy();
				else outgoing.writeHead(500).end("the receiver's `respond` failed");
			});
		},
	);
	const connections = new Connections(server, true);
	const port = await connections.listen(options.port ?? 0, host);

	async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
		const rawBody = await readBody(incoming);
		if (rawBody === null) return;
		const path = incoming.url ?? "";
		const key = typeof secret === "function" ? secret(path) : secret;
		const headers = joinHeaders(incoming);
		const check = key === undefined ? null : verifyRequest({ secret: key, headers, rawBody, brand });
		const request: ReceivedRequest = {
			method: incoming.method ?? "",
			path,
			headers,
			rawHeaders: pairs(incoming.rawHeaders),
			rawBody,
			body: parse(rawBody),
			receivedAt: Date.now(),
			verified: check === null ? null : check.ok,
			connection: connections.numberOf(incoming.socket),
		};
		// Record it before waking those who wait for the request, since it may be the last one.
		const answering = respond(request, inbox.received + 1);
		inbox.add(request);
		const action = await answering;
		if (action === "reset") return reset(incoming.socket);
		if (action === "hang") return;
		if (action.delayMs) await delay(action.delayMs, incoming);
		if (outgoing.destroyed) return;
		outgoing.writeHead(action.status ?? 200, { ...action.headers } as Record<string, string | string[]>);
		outgoing.end(action.body ?? "ok");
	}

	return {
		port,
		/** Its URL with its host name. */
		url: (path = "/"): string => new URL(path, `https://localhost:${port}`).href,
		/** Its URL with its IP address. */
		ipUrl: (path = "/"): string => new URL(path, `https://${host.includes(":") ? `[${host}]` : host}:${port}`).href,
		/** The requests kept, oldest first. */
		requests: inbox.items as readonly ReceivedRequest[],
		/** All requests received. */
		get received(): number {
			return inbox.received;
		},
		/** All TLS connections accepted. */
		get connections(): number {
			return connections.accepted;
		},
		/** Connections open now, during or after their TLS handshake. */
		get openConnections(): number {
			return connections.openNow;
		},
		/** The oldest matching request that `next` hasn't returned before; waits for it. */
		next: (fits?: (request: ReceivedRequest) => boolean, wait?: WaitOptions): Promise<ReceivedRequest> =>
			inbox.next(fits, wait),
		/** Resolves when `n` requests have arrived in total. */
		count: (n: number, wait?: WaitOptions): Promise<void> => inbox.count(n, wait),
		/** Resolves when `fits` returns true for the kept requests. */
		waitFor: (fits: (requests: readonly ReceivedRequest[]) => boolean, wait?: WaitOptions): Promise<void> =>
			inbox.waitFor(fits, wait),
		/** How requests are verified from now on. */
		setSecret(given: Secret | undefined): void {
			secret = given;
		},
		/** How the receiver responds from now on. */
		respondWith(given: Respond): void {
			respond = given;
		},
		/** Breaks every connection. Rejects if a `respond` failed, so that no test ignores it. */
		async close(): Promise<void> {
			await connections.close();
			if (inbox.failure) throw inbox.failure;
		},
	};
}

/** The whole body, or null if the sender broke off early. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | null> {
	const chunks: Buffer[] = [];
	incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
	return await new Promise((resolve) => {
		incoming.once("end", () => resolve(Buffer.concat(chunks)));
		incoming.once("close", () => resolve(null));
		incoming.once("error", () => resolve(null));
	});
}

/** Ends early if the sender breaks off. */
async function delay(ms: number, incoming: IncomingMessage): Promise<void> {
	await new Promise<void>((resolve) => {
		const end = (): void => {
			clearTimeout(timer);
			incoming.socket.off("close", end);
			resolve();
		};
		const timer = setTimeout(end, ms);
		incoming.socket.once("close", end);
	});
}

function joinHeaders({ headersDistinct }: IncomingMessage): Record<string, string> {
	return Object.fromEntries(Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(", ")]));
}

function pairs(flat: readonly string[]): [string, string][] {
	return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? "", flat[2 * i + 1] ?? ""]);
}

function parse(bytes: Buffer): unknown {
	try {
		return JSON.parse(bytes.toString());
	} catch {
		return undefined; // a receiver takes any body; only the test knows whether it ought to be JSON
	}
}

function describe({ method, path, headers, rawBody, verified, connection }: ReceivedRequest): string {
	const event = headers["x-service-event"] ?? "";
	return `${method} ${path} ${event} ${rawBody.length} bytes, verified ${verified}, connection ${connection}`;
}
