import { once } from "node:events";
import { connect } from "node:net";
import express from "express";
import fastify from "fastify";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { fastifyWebhooks } from "../src/adapters/fastify.ts";
import { fetchHandler } from "../src/adapters/fetch.ts";
import { nodeHandler } from "../src/adapters/node.ts";
import { createReceiver, memoryStore, type ReceiverOptions } from "../src/index.ts";
import { sampleEvent, signBody, signEvent } from "../src/testing.ts";
import { ADAPTERS, serve } from "./servers.fixture.ts";

const SECRET = "whsec_test";
const MAX_BYTES = 2_000;

function setUp(options: Partial<ReceiverOptions> = {}) {
	const handled: string[] = [];
	const receiver = createReceiver({
		secret: SECRET,
		store: memoryStore(),
		maxBytes: MAX_BYTES,
		on: { "*": ({ raw }) => void handled.push(raw) },
		...options,
	});
	return { handled, receiver };
}

async function post(
	url: string,
	{ headers, body }: { headers: Record<string, string>; body: string | ReadableStream },
) {
	const response = await fetch(url, { method: "POST", headers, body, duplex: "half" } as RequestInit);
	return { status: response.status, ...((await response.json()) as { code?: string; result?: string }) };
}

describe.each(ADAPTERS)("$name", ({ listener }) => {
	it("hands over the exact bytes, and responds with the receiver's status and a body for the delivery log", async () => {
		const { handled, receiver } = setUp();
		await using server = await serve(await listener(receiver));
		const request = await signEvent({ type: "customer.created", data: { name: "Zoë 🎺" } }, SECRET);
		expect(await post(server.url, request)).toEqual({ status: 200, result: "handled" });
		expect(await post(server.url, request)).toEqual({ status: 200, result: "duplicate" });
		expect(handled).toEqual([request.body]);
		expect(await post(server.url, { ...request, body: `${request.body} ` })).toMatchObject({
			status: 401,
			code: "body_reserialized",
		});
		const stale = await signEvent(sampleEvent("customer.created"), SECRET, { now: Date.now() - 400_000 });
		expect(await post(server.url, stale)).toMatchObject({ status: 400, code: "timestamp_too_old" });
	});

	it("verifies an empty body and one that is not JSON", async () => {
		const { receiver } = setUp();
		await using server = await serve(await listener(receiver));
		for (const body of ["", "{", "\ufeff{}"]) {
			const headers = await signBody(body, SECRET);
			expect(await post(server.url, { headers, body }), JSON.stringify(body)).toMatchObject({
				status: 400,
				code: "body_not_json",
			});
		}
	});

	it("refuses other methods", async () => {
		const { receiver } = setUp();
		await using server = await serve(await listener(receiver));
		expect([404, 405]).toContain((await fetch(server.url)).status);
	});
});

// Express's own parser has its own limit.
describe.each(ADAPTERS.filter(({ name }) => !name.includes("raw")))("$name", ({ listener }) => {
	it("refuses bodies over the limit, announced or not", async () => {
		const { handled, receiver } = setUp();
		await using server = await serve(await listener(receiver));
		const request = await signEvent({ type: "customer.created", data: { filler: "x".repeat(MAX_BYTES) } }, SECRET);
		expect((await post(server.url, request)).status).toBe(413);
		const chunked = new Blob([request.body]).stream();
		expect((await post(server.url, { headers: request.headers, body: chunked })).status).toBe(413);
		expect(handled).toEqual([]);
	});

	it("survives a sender that breaks off", async () => {
		const { receiver, handled } = setUp();
		await using server = await serve(await listener(receiver));
		const { port } = new URL(server.url);
		const socket = connect(Number(port), "127.0.0.1");
		await once(socket, "connect");
		socket.write(
			"POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
		);
		socket.resetAndDestroy();
		await once(socket, "close");
		const request = await signEvent(sampleEvent("customer.created"), SECRET);
		expect((await post(server.url, request)).status).toBe(200);
		expect(handled).toEqual([request.body]);
	});
});

describe("Express after express.json()", () => {
	it("says that the body has already been parsed", async () => {
		const { receiver } = setUp();
		await using server = await serve(express().use(express.json()).post("/webhooks", nodeHandler(receiver)));
		const request = await signEvent(sampleEvent("customer.created"), SECRET);
		expect(await post(server.url, request)).toMatchObject({ status: 401, code: "body_parsed" });
	});

	it("uses the raw body if a parser kept it", async () => {
		const { receiver } = setUp();
		const keep = (request: object, _response: unknown, rawBody: Buffer) => void Object.assign(request, { rawBody });
		const app = express()
			.use(express.json({ verify: keep }))
			.post("/webhooks", nodeHandler(receiver));
		await using server = await serve(app);
		const request = await signEvent(sampleEvent("customer.created"), SECRET);
		expect(await post(server.url, request)).toMatchObject({ status: 200, result: "handled" });
	});
});

describe("node", () => {
	// Koa responded with 404 as soon as the handler returned.
	it("resolves once it has responded", async () => {
		const { receiver } = setUp();
		const handler = nodeHandler(receiver);
		const ended: boolean[] = [];
		await using server = await serve(async (request, response) => {
			await handler(request, response);
			ended.push(response.writableEnded);
		});
		const request = await signEvent(sampleEvent("customer.created"), SECRET);
		expect((await post(server.url, request)).status).toBe(200);
		expect((await fetch(server.url)).status).toBe(405);
		expect(ended).toEqual([true, true]);
	});

	// Strings were concatenated as bytes, and the error ended the process.
	it.each(["utf8", "latin1", "hex"] as const)(
		"reads a request whose encoding other code has set to %s",
		async (encoding) => {
			const { receiver, handled } = setUp();
			const handler = nodeHandler(receiver);
			await using server = await serve((request, response) => handler(request.setEncoding(encoding), response));
			const request = await signEvent({ type: "customer.created", data: { name: "Zoë 東京 🎺" } }, SECRET);
			expect(await post(server.url, request)).toMatchObject({ status: 200, result: "handled" });
			expect(handled).toEqual([request.body]);
		},
	);

	// As a Fetch API route it ended the process, because nothing waited for its error.
	it.each([undefined, { params: Promise.resolve({}) }, () => undefined])(
		"says what to use for servers that pass no response of node:http",
		async (second) => {
			const { receiver } = setUp();
			const request = new Request("http://localhost", { method: "POST", body: "{}" });
			await expect(nodeHandler(receiver)(request as never, second as never)).rejects.toThrow(
				/^nodeHandler got no response of node:http.* use fetchHandler/,
			);
		},
	);
});

it.each([nodeHandler, fetchHandler, fastifyWebhooks])("$name needs a receiver, not its options", (adapter) => {
	for (const one of [undefined, { secret: SECRET, store: memoryStore(), on: {} }])
		expect(() => adapter(one as never)).toThrow(`${adapter.name} needs a receiver: pass what createReceiver`);
});

describe("Fastify", () => {
	it("keeps the parsers of other routes", async () => {
		const { receiver } = setUp();
		const app = fastify();
		await app.register(fastifyWebhooks(receiver, { path: "/in" }));
		app.post("/other", async (request) => ({ got: request.body }));
		const reply = await app.inject({ method: "POST", url: "/other", payload: { a: 1 } });
		expect(reply.json()).toEqual({ got: { a: 1 } });
		const { headers, body } = await signEvent(sampleEvent("customer.created"), SECRET);
		expect((await app.inject({ method: "POST", url: "/in", headers, payload: body })).statusCode).toBe(200);
	});
});

describe("fetch", () => {
	it("says that the body has already been read", async () => {
		const { receiver } = setUp();
		const request = new Request("http://localhost", {
			method: "POST",
			...(await signEvent(sampleEvent("customer.created"), SECRET)),
		});
		const locked = request.clone();
		locked.body!.getReader();
		await request.json();
		for (const one of [request, locked])
			expect(await (await fetchHandler(receiver)(one)).json()).toMatchObject({ code: "body_parsed" });
	});

	// Hono's context has no method, so the response was a 405 that blamed the sender.
	it("takes what frameworks pass to a route instead of the request", async () => {
		const { receiver } = setUp({ store: memoryStore() });
		const signed = await signEvent(sampleEvent("customer.created"), SECRET);
		const request = () => new Request("http://localhost", { method: "POST", ...signed });
		const handler = fetchHandler(receiver);
		const contexts = [{ request: request() }, { req: { raw: request() } }, { req: request() }];
		for (const context of contexts) expect((await handler(context)).status, Object.keys(context)[0]).toBe(200);
		// Hono's own request.
		expect((await handler({ raw: request(), arrayBuffer: () => undefined } as never)).status).toBe(200);
	});

	it.each([undefined, {}, { method: "POST", headers: {} }])(
		"says what to use for %j, which has no request",
		async (input) => {
			const { receiver } = setUp();
			await expect(fetchHandler(receiver)(input as never)).rejects.toThrow(
				/^fetchHandler got no Request .* use nodeHandler/,
			);
		},
	);

	// Then the response was a 503 or a 400, and a serverless function was kept alive for nothing.
	it.each([
		["never ends", () => new Promise<void>(() => undefined)],
		["fails", () => Promise.reject(new Error("reset"))],
	])("refuses a body over the limit even if cancelling its stream %s", async (_, cancel) => {
		const { receiver } = setUp();
		const chunk = new Uint8Array(MAX_BYTES);
		const body = new ReadableStream({ pull: (stream) => stream.enqueue(chunk), cancel });
		const works: Promise<unknown>[] = [];
		const handler = fetchHandler(receiver, { waitUntil: (work) => works.push(work) });
		const request = new Request("http://localhost", { method: "POST", body, duplex: "half" });
		expect((await handler(request)).status).toBe(413);
		await Promise.all(works);
	});

	it("keeps the function alive until a slow handler has ended", async () => {
		// The second request must not take longer than the timeout on a busy machine.
		vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
		onTestFinished(() => void vi.useRealTimers());
		const slow = Promise.withResolvers<void>();
		const started = Promise.withResolvers<void>();
		const handle = () => {
			started.resolve();
			return slow.promise;
		};
		const { receiver } = setUp({ timeout: 0.01, on: { "*": handle } });
		const works: Promise<unknown>[] = [];
		const handler = fetchHandler(receiver, { waitUntil: (work) => works.push(work) });
		const signed = await signEvent(sampleEvent("customer.created"), SECRET);
		const send = () => handler(new Request("http://localhost", { method: "POST", ...signed }));
		const first = send();
		await started.promise;
		await vi.advanceTimersByTimeAsync(10);
		expect((await first).status).toBe(503);
		expect(works).toHaveLength(1);
		slow.resolve();
		await works[0];
		expect(await (await send()).json()).toEqual({ result: "duplicate" });
	});
});
