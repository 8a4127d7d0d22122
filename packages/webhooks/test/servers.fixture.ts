import type { RequestListener, Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import express from "express";
import fastify from "fastify";
import { fastifyWebhooks } from "../src/adapters/fastify.ts";
import { fetchHandler } from "../src/adapters/fetch.ts";
import { nodeHandler } from "../src/adapters/node.ts";
import type { Receiver } from "../src/index.ts";

/** Each adapter as a listener of Node's server, at the path /webhooks. */
export const ADAPTERS: readonly {
	readonly name: string;
	readonly listener: (receiver: Receiver) => RequestListener | Promise<RequestListener>;
}[] = [
	{ name: "node:http", listener: nodeHandler },
	{
		name: "Express",
		listener: (receiver) => express().post("/webhooks", nodeHandler(receiver)).use(express.json()),
	},
	{
		name: "Express after a parser of raw bodies",
		listener: (receiver) =>
			express()
				.use(express.raw({ type: "*/*" }))
				.post("/webhooks", nodeHandler(receiver)),
	},
	{
		name: "Fastify",
		listener: async (receiver) => {
			const app = fastify();
			await app.register(fastifyWebhooks(receiver));
			await app.ready();
			return app.routing;
		},
	},
	{ name: "fetch", listener: (receiver) => bridged(fetchHandler(receiver)) },
];

/** Serves a handler of the Fetch API with Node's server, as frameworks do. */
function bridged(handler: (request: Request) => Promise<Response>): RequestListener {
	return async (incoming, outgoing) => {
		const method = incoming.method ?? "";
		const response = await handler(
			new Request(`http://localhost${incoming.url}`, {
				method,
				headers: new Headers(incoming.headers as Record<string, string>),
				...(method === "POST" && { body: Readable.toWeb(incoming) as ReadableStream, duplex: "half" as const }),
			}),
		);
		outgoing.writeHead(response.status, Object.fromEntries(response.headers));
		outgoing.end(await buffer(response.body!));
	};
}

/** Serves over plain HTTP. */
export async function serve(listener: RequestListener): Promise<{ url: string } & AsyncDisposable> {
	const server = createServer(listener);
	const { port } = await listen(server);
	return { url: `http://127.0.0.1:${port}/webhooks`, [Symbol.asyncDispose]: () => close(server) };
}

async function listen(server: Server): Promise<AddressInfo> {
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	return server.address() as AddressInfo;
}

async function close(server: Server): Promise<void> {
	server.closeAllConnections();
	await new Promise((resolve) => server.close(resolve));
}
