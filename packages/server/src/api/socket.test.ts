import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { unusedPort } from "../../../testkit/src/ports.ts";
import { Signal } from "../../../testkit/src/signal.ts";
import { OPERATOR_KEY, TestApi } from "../../test/api/api.ts";
import { REQUESTS } from "../base/budgets.ts";

let api: TestApi;
let port: number;
let release: () => void = () => {};
let held: Promise<void>;

beforeEach(async () => {
	let begun: () => void = () => {};
	held = new Promise((resolve) => {
		begun = resolve;
	});
	const gate = new Promise<void>((resolve) => {
		release = resolve;
	});
	api = await TestApi.start({
		parts: ({ engine }) => ({
			engine: {
				...engine,
				async publish(...args) {
					begun();
					await gate;
					return engine.publish(...args);
				},
			},
		}),
	});
	// Not a port that another process may get once this one is closed.
	port = await unusedPort();
	await api.app.listen({ port, host: "127.0.0.1" });
});
afterEach(() => api.close());

/** The server's response to these bytes, until it closes the connection. */
async function say(bytes: string | Uint8Array, ends = true): Promise<string> {
	const socket = connect(port, "127.0.0.1");
	socket.write(bytes);
	if (ends) socket.end();
	const chunks: Buffer[] = [];
	socket.on("data", (chunk: Buffer) => chunks.push(chunk));
	// If it closes before reading everything, it may also send a reset.
	socket.on("error", () => {});
	await new Promise((resolve) => socket.on("close", resolve));
	return Buffer.concat(chunks).toString();
}

const authorization = `Authorization: Bearer ${OPERATOR_KEY}`;

test("bytes that aren't a request get a problem", async () => {
	for (const [bytes, status] of [
		["nonsense\r\n\r\n", 400],
		["GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n", 400],
		["FROBNICATE / HTTP/1.1\r\nHost: a\r\n\r\n", 400],
		[`GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431],
		["POST /v1/projects HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400],
	] as const) {
		const answer = await say(bytes);
		expect(answer.split(" ")[1], bytes.slice(0, 30)).toBe(String(status));
		expect(answer).toContain("application/problem+json");
		expect(JSON.parse(answer.split("\r\n\r\n")[1]!)).toMatchObject({ status });
	}
});

test("a query whose values are valid, but too long together, gets a problem that the document has", async () => {
	const project = await api.project();
	const query = new URLSearchParams(Array.from({ length: 20 }, () => ["order_id", "é".repeat(150)]));
	const answer = await say(`GET ${project}/attempts?${query} HTTP/1.1\r\nHost: a\r\n${authorization}\r\n\r\n`);
	expect(answer.split(" ")[1]).toBe("431");
	const document = (await api.call("GET", "/openapi.json")).json as unknown as {
		paths: Record<string, { get: { responses: object } }>;
	};
	expect(document.paths["/v1/projects/{project_id}/attempts"]!.get.responses).toHaveProperty("431");
});

// Such as from a client that sends more than its Content-Length says: it saw 400 for an event that was published.
test("what follows a complete request isn't taken for its response", async () => {
	const project = await api.project();
	const body = JSON.stringify({ type: "delivery.success", data: {} });
	const publish =
		`POST ${project}/events HTTP/1.1\r\nHost: a\r\n${authorization}\r\nContent-Type: application/json\r\n` +
		`Content-Length: ${body.length}\r\n\r\n${body}`;
	release();
	for (const rest of ["nonsense\r\n\r\n", `POST / HTTP/1.1\r\n${"x".repeat(20_000)}`]) {
		const answer = await say(publish + rest, false);
		expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 202"]);
	}
	expect((await api.call("GET", `${project}/events`)).json.last_seq).toBe(2);
});

// Each invalid part added listeners to the responses that were awaited, until Node warned of a leak.
test("further invalid requests on a connection that is ending change nothing", async () => {
	const project = await api.project();
	const responses: ServerResponse[] = [];
	const errors = new Signal();
	let count = 0;
	api.app.server.on("request", (_request, response) => responses.push(response));
	api.app.server.on("clientError", () => {
		count++;
		errors.look();
	});
	const head = `POST ${project}/events HTTP/1.1\r\nHost: a\r\n${authorization}\r\nContent-Type: application/json\r\n`;
	const body = JSON.stringify({ type: "delivery.success", data: {} });
	const socket = connect(port, "127.0.0.1");
	const answer = text(socket);
	socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}${head}Transfer-Encoding: chunked\r\n\r\nnone\r\n`);
	await errors.until("the first error", () => count === 1);
	await held;
	const listeners = responses[0]!.listenerCount("close");
	socket.write("none\r\n");
	await errors.until("the second error", () => count === 2);
	expect(responses[0]!.listenerCount("close")).toBe(listeners);
	release();
	expect((await answer).match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 202"]);
});

test("says how large a header may be", async () => {
	const answer = await say(`GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(REQUESTS.headerBytes)}\r\n\r\n`);
	expect(answer).toContain(
		`larger than ${REQUESTS.headerBytes.toLocaleString("en")} bytes. Send fewer or shorter headers`,
	);
});

test("refuses a body that is too large before it arrives", async () => {
	const answer = await say(
		`POST /v1/projects HTTP/1.1\r\nHost: a\r\n${authorization}\r\nContent-Type: application/json\r\nContent-Length: 999999999\r\n\r\n`,
	);
	expect(answer).toMatch(/^HTTP\/1.1 413 /);
	expect(answer).toContain('"type":"/problems/too-large"');
});

test("limits a body of unknown length while it arrives", async () => {
	const chunk = `10000\r\n${" ".repeat(65_536)}\r\n`;
	const answer = await say(
		`POST /v1/projects HTTP/1.1\r\nHost: a\r\n${authorization}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(8)}0\r\n\r\n`,
	);
	expect(answer).toMatch(/^HTTP\/1.1 413 /);
});

// Two megabytes of one-byte chunks in one packet kept all other requests waiting for half a second.
test("refuses a body in too many small chunks", async () => {
	const inChunks = (chunk: string, count: number): Promise<string> =>
		say(
			`POST /v1/projects HTTP/1.1\r\nHost: a\r\n${authorization}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${`${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(count)}0\r\n\r\n`,
		);
	const [tooMany, asManyAsFit, larger] = await Promise.all([
		inChunks(" ", 2_100),
		inChunks(" ", 2_000),
		inChunks(" ".repeat(25), 2_600),
	]);
	expect(tooMany).toMatch(/^HTTP\/1.1 400 /);
	expect(tooMany).toContain("The body has too many small chunks.");
	for (const answer of [asManyAsFit, larger]) expect(answer).toContain("The body is not valid JSON");
});

test("checks the key before waiting for a large body", async () => {
	const answer = await say(
		"POST /v1/projects HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 999999999\r\n\r\n",
	);
	expect(answer).toMatch(/^HTTP\/1.1 401 /);
});

test("a truncated body writes nothing and isn't a server error", async () => {
	const project = await api.project();
	const socket = connect(port, "127.0.0.1");
	const closed = once(socket, "close");
	socket.write(
		`POST ${project}/events HTTP/1.1\r\nHost: a\r\n${authorization}\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"type":`,
	);
	await once(api.app.server, "request");
	socket.resetAndDestroy();
	await closed;
	expect((await api.call("GET", `${project}/events`)).json.data).toEqual([]);
	expect(api.logs.filter((line) => line.includes('"error"'))).toEqual([]);
});

test("closing finishes requests in progress, closes connections, and accepts no new ones", async () => {
	const project = await api.project();
	const agent = new Agent({ keepAlive: true });
	const body = JSON.stringify({ type: "delivery.success", data: {} });
	const request = httpRequest({
		port,
		host: "127.0.0.1",
		method: "POST",
		path: `${project}/events`,
		agent,
		headers: { authorization: `Bearer ${OPERATOR_KEY}`, "content-type": "application/json" },
	});
	const response = once(request, "response") as Promise<[IncomingMessage]>;
	request.end(body);
	await held;
	const stopListening = once(api.app.server, "close");
	const closing = api.app.close();
	await new Promise<void>((resolve) => {
		const refused = () => {
			const socket = connect(port, "127.0.0.1");
			socket.on("connect", () => socket.destroy());
			socket.on("error", () => resolve());
			socket.on("close", (failed) => failed || refused());
		};
		refused();
	});
	release();
	const [answer] = await response;
	expect(answer.statusCode).toBe(202);
	expect(answer.headers.connection).toBe("close");
	answer.resume();
	await closing;
	await stopListening;
	agent.destroy();
	const log = await api.storage.readLog({
		projectId: project.split("/").at(-1)!,
		after: 0,
		window: { maxEvents: 10, maxBytes: 1_000 },
	});
	expect(log).toHaveLength(1);
});

test("HEAD returns the same as GET, without the body", async () => {
	const answer = await say("HEAD /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
	expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/);
	expect(answer).toMatch(/content-length: 15\r\n/i);
	expect(answer.endsWith("\r\n\r\n")).toBe(true);
});
