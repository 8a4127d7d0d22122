import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { Signal } from "../../../testkit/src/signal.ts";
import { until } from "../../../testkit/src/until.ts";
import { OPERATOR_KEY, TestApi, type TestApiOptions } from "../../test/api/api.ts";
import { CONNECTIONS } from "../base/budgets.ts";
import { systemClock } from "../base/clock.ts";
import { LongPolls } from "./changes.ts";

let api: TestApi;
let port: number;
const clients: Socket[] = [];
/** The server's side of each connection, in order. */
const accepted: Socket[] = [];

async function start(options: TestApiOptions): Promise<void> {
	api = await TestApi.start(options);
	api.app.server.on("connection", (socket: Socket) => accepted.push(socket));
	await api.app.listen({ port: 0, host: "127.0.0.1" });
	({ port } = api.app.server.address() as { port: number });
}
afterEach(async () => {
	for (const client of clients.splice(0)) client.destroy();
	accepted.length = 0;
	await api.close();
});

/** A client that never closes its side first. */
async function open(text = "", localAddress = "127.0.0.1"): Promise<Socket> {
	const client = connect({ port, host: "127.0.0.1", localAddress, allowHalfOpen: true });
	client.on("error", () => {});
	clients.push(client);
	await once(client, "connect");
	if (text !== "") client.write(text);
	return client;
}

const GET = (path: string): string =>
	`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${OPERATOR_KEY}\r\n\r\n`;

/** What arrives up to the given number of responses. */
function answers(client: Socket, count: number): Promise<string> {
	const { promise, resolve } = Promise.withResolvers<string>();
	let text = "";
	client.on("data", (chunk) => {
		text += String(chunk);
		if (text.split("HTTP/1.1 ").length > count) resolve(text);
	});
	client.once("close", () => resolve(text));
	return promise;
}

async function acceptedAll(count: number): Promise<void> {
	while (accepted.length < count) await once(api.app.server, "connection");
}

const closed = (socket: Socket): Promise<unknown> => (socket.destroyed ? Promise.resolve() : once(socket, "close"));

/** Waits until requests have come on this many connections. A later one is answered after those that don't wait. */
const haveCome = (count: number) =>
	until("all requests", () => accepted.length === count && accepted.every(({ bytesRead }) => bytesRead > 0));

// With 1,000 connections that sent wrong passwords, others' publishing took 38 ms at the median.
test("requests of unknown clients wait for their turn, and those of known ones don't wait for them", async () => {
	const held: (() => void)[] = [];
	let isHeld = false;
	const hold = (run: () => void): void => void (isHeld ? held.push(run) : setImmediate(run));
	await start({ parts: ({ clock }) => ({ clock: { ...clock, setImmediate: hold } }) });
	const project = await api.project();
	const key = await api.keyOf(project);
	const unusedKey = await api.keyOf(project);
	const get = (path: string, by: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${by}\r\n\r\n`;
	const list = (by: string) => get(`${project}/webhooks`, by);
	expect(await answers(await open(list(key)), 1)).toContain(" 200 ");
	isHeld = true;
	const unknown: Promise<string>[] = [];
	const texts = [get("/healthz", "phk_none"), list("phk_none"), list(unusedKey), "GET / HTTP/1.1\r\nHost: a\r\n\r\n"];
	for (const text of texts) unknown.push(answers(await open(text), 1));
	await until("all requests", () => accepted.slice(1).every(({ bytesRead }) => bytesRead > 0));
	expect(await answers(await open(list(key)), 1)).toContain(" 200 ");
	expect(accepted.map(({ bytesWritten }) => bytesWritten > 0)).toEqual([true, false, false, false, false, true]);
	isHeld = false;
	for (const run of held) run();
	const statuses = (await Promise.all(unknown)).map((answer) => /^HTTP\/1.1 (\d+)/.exec(answer)?.[1]);
	expect(statuses).toEqual(["200", "401", "200", "404"]);
});

test("more than a few requests at once of a known client wait for their turn", async () => {
	const held: (() => void)[] = [];
	let isHeld = false;
	const hold = (run: () => void): void => void (isHeld ? held.push(run) : setImmediate(run));
	await start({ parts: ({ clock }) => ({ clock: { ...clock, setImmediate: hold } }) });
	const projects = [await api.project(), await api.project()];
	const list = async (project: string) =>
		`GET ${project}/webhooks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${await api.keyOf(project)}\r\n\r\n`;
	const [by, byOther] = [await list(projects[0]!), await list(projects[1]!)];
	for (const text of [by, byOther]) expect(await answers(await open(text), 1)).toContain(" 200 ");
	const before = accepted.length;
	isHeld = true;
	const all: Promise<string>[] = [];
	const { startsPerTurn } = CONNECTIONS;
	for (let i = 0; i < startsPerTurn + 5; i++) all.push(answers(await open(by), 1));
	await haveCome(before + all.length);
	expect(await answers(await open(byOther), 1)).toContain(" 200 ");
	await Promise.all(all.slice(0, startsPerTurn));
	expect(accepted.filter(({ bytesWritten }) => bytesWritten === 0)).toHaveLength(5);
	isHeld = false;
	for (const run of held) run();
	for (const answer of await Promise.all(all)) expect(answer).toContain(" 200 ");
});

// Each of 200 keys had its own share of a turn. Others' publishing took 700 ms instead of 21, and new connections seconds.
test("the keys of a project share its part of a turn", async () => {
	const held: (() => void)[] = [];
	let isHeld = false;
	const hold = (run: () => void): void => void (isHeld ? held.push(run) : setImmediate(run));
	await start({ parts: ({ clock }) => ({ clock: { ...clock, setImmediate: hold } }) });
	const [project, other] = [await api.project(), await api.project()];
	const list = async (of: string) =>
		`GET ${of}/webhooks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${await api.keyOf(of)}\r\n\r\n`;
	const { startsPerTurn } = CONNECTIONS;
	const texts: string[] = [];
	for (let i = 0; i < startsPerTurn + 5; i++) texts.push(await list(project));
	const byOther = await list(other);
	for (const text of [...texts, byOther]) expect(await answers(await open(text), 1)).toContain(" 200 ");
	const before = accepted.length;
	isHeld = true;
	const all: Promise<string>[] = [];
	for (const text of texts) all.push(answers(await open(text), 1));
	await haveCome(before + all.length);
	expect(await answers(await open(byOther), 1)).toContain(" 200 ");
	await Promise.all(all.slice(0, startsPerTurn));
	expect(accepted.slice(before).filter(({ bytesWritten }) => bytesWritten === 0)).toHaveLength(5);
	isHeld = false;
	for (const run of held) run();
	for (const answer of await Promise.all(all)) expect(answer).toContain(" 200 ");
});

test("more than a few requests at once of many known clients wait for their turn", async () => {
	const held: (() => void)[] = [];
	let isHeld = false;
	const hold = (run: () => void): void => void (isHeld ? held.push(run) : setImmediate(run));
	await start({ parts: ({ clock }) => ({ clock: { ...clock, setImmediate: hold } }) });
	const { startsPerTurn, startsPerTurnOfAll } = CONNECTIONS;
	const texts: string[] = [];
	for (let i = 0; i < startsPerTurnOfAll / startsPerTurn + 1; i++) {
		const project = await api.project();
		const key = await api.keyOf(project);
		texts.push(`GET ${project}/webhooks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`);
	}
	for (const text of texts) expect(await answers(await open(text), 1)).toContain(" 200 ");
	const before = accepted.length;
	isHeld = true;
	const all: Promise<string>[] = [];
	for (const text of texts) for (let i = 0; i < startsPerTurn; i++) all.push(answers(await open(text), 1));
	const unanswered = () => accepted.slice(before).filter(({ bytesWritten }) => bytesWritten === 0).length;
	await haveCome(before + all.length);
	await until("the first responses", () => unanswered() <= startsPerTurn);
	expect(unanswered()).toBe(startsPerTurn);
	isHeld = false;
	for (const run of held) run();
	for (const answer of await Promise.all(all)) expect(answer).toContain(" 200 ");
});

test("credentials that no longer work are unknown again", async () => {
	const held: (() => void)[] = [];
	let isHeld = false;
	const hold = (run: () => void): void => void (isHeld ? held.push(run) : setImmediate(run));
	await start({ parts: ({ clock }) => ({ clock: { ...clock, setImmediate: hold } }) });
	const project = await api.project();
	const { json } = await api.call("POST", `${project}/api-keys`, { body: { name: "deleted" } });
	const text = `GET ${project}/webhooks HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${json.key}\r\n\r\n`;
	expect(await answers(await open(text), 1)).toContain(" 200 ");
	await api.call("DELETE", `${project}/api-keys/${json.id}`);
	expect(await answers(await open(text), 1)).toContain(" 401 ");
	isHeld = true;
	const late = answers(await open(text), 1);
	await until("the request to wait for its turn", () => held.length > 0);
	isHeld = false;
	for (const run of held) run();
	expect(await late).toContain(" 401 ");
});

// They got 408 or 400, and stayed open for as long as the client liked.
test("closes slow and half-open connections", async () => {
	await start({ parts: () => ({ connectionLimits: { headerMs: 200, requestMs: 400, checkMs: 50 } }) });
	const post =
		"POST /v1/session HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";
	const texts = ["", "GET /healthz HTTP/1.1\r\nHost: a\r\nX: ", post];
	const said = [];
	for (const text of texts) said.push(answers(await open(text), 1));
	await acceptedAll(3);
	await Promise.all(accepted.map(closed));
	const statuses = (await Promise.all(said)).map((answer) => /^HTTP\/1.1 (\d+)/.exec(answer)?.[1]);
	expect(statuses).toEqual(["408", "408", "408"]);
	expect(api.app.server.listening).toBe(true);
});

// With the limits above, a machine that pauses would find it slow first.
test("closes malformed and half-open connections", async () => {
	await start({});
	expect(await answers(await open("hello\r\n\r\n"), 1)).toMatch(/^HTTP\/1.1 400 /);
	await closed(accepted[0]!);
	expect(api.app.server.listening).toBe(true);
});

// The error was in the middle of the stream, or looked like the response to the connection's next request.
test("a request whose body never arrives gets no second response", async () => {
	await start({ parts: () => ({ connectionLimits: { checkMs: 50 } }) });
	const project = await api.project();
	const { server } = api.app;
	const { headersTimeout, requestTimeout } = server;
	for (const [i, path] of ["/healthz", `${project}/changes`].entries()) {
		const client = await open(GET(path).replace("\r\n\r\n", "\r\nContent-Length: 5\r\n\r\n"));
		let said = "";
		client.on("data", (chunk) => {
			said += String(chunk);
			// However slow the machine, it has had its response by now.
			Object.assign(server, { headersTimeout: 1, requestTimeout: 1 });
		});
		await once(client, "end");
		Object.assign(server, { headersTimeout, requestTimeout });
		expect(said.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
		await closed(accepted[i]!);
	}
});

test("a slow header has less time than a whole request", async () => {
	await start({ parts: () => ({ connectionLimits: { headerMs: 200, requestMs: 120_000, checkMs: 50 } }) });
	const answer = answers(await open("GET /healthz HTTP/1.1\r\nHost: a\r\nX: "), 1);
	expect(await answer).toMatch(/^HTTP\/1.1 408 /);
	await closed(accepted[0]!);
});

// The service stopped only after an attempt's timeout and a grace period, with leases not released, and exit code 1.
test("closing doesn't wait for slow clients", async () => {
	await start({ parts: () => ({ connectionLimits: { endMs: 100 } }) });
	const post = "POST /v1/projects HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n";
	const texts = [
		"",
		"GET /healthz HTTP/1.1\r\nHost: a\r\nX: ",
		`${post}Authorization: Bearer ${OPERATOR_KEY}\r\n\r\n{`,
	];
	for (const text of texts) await open(text);
	// More than the buffers of both sides hold.
	const deaf = await open(GET("/docs/reference.js").repeat(CONNECTIONS.requestsInWork));
	deaf.pause();
	await acceptedAll(4);
	const hasCome = () => texts.every((text, i) => accepted[i]!.bytesRead === text.length);
	await until("all requests", () => hasCome() && accepted[3]!.writableLength > 0);
	await api.app.close();
	expect(accepted.map(({ destroyed }) => destroyed)).toEqual([true, true, true, true]);
});

test("a refused body isn't read, and its connection closes after the response", async () => {
	await start({});
	const head =
		"POST /v1/projects HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 50000000\r\n\r\n";
	const client = await open(head);
	const answer = answers(client, 1);
	client.write(Buffer.alloc(50_000_000, 0x20));
	expect(await answer).toMatch(/^HTTP\/1.1 401 /);
	await closed(accepted[0]!);
	// Only the part that arrives while the key is looked up.
	expect(accepted[0]!.bytesRead).toBeLessThan(10_000_000);
});

// Its bytes were charged after the connection had closed, and never released.
test("a client that leaves during its key lookup leaks nothing", async () => {
	const asked = Promise.withResolvers<void>();
	const gone = Promise.withResolvers<void>();
	await start({
		parts: ({ apiKeys }) => ({
			apiKeys: new Proxy(apiKeys, {
				get(keys, name) {
					if (name !== "authenticate") return Reflect.get(keys, name, keys);
					return async (...call: Parameters<typeof keys.authenticate>) => {
						asked.resolve();
						await gone.promise;
						return keys.authenticate(...call);
					};
				},
			}),
		}),
	});
	const client = await open(
		`POST /v1/projects HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${OPERATOR_KEY}\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{`,
	);
	await asked.promise;
	client.destroy();
	await closed(accepted[0]!);
	// The request learns of it in a later turn.
	await nextTurn();
	gone.resolve();
	await nextTurn();
	const { text } = await api.call("GET", "/metrics");
	for (const name of ["request_body_bytes", "stranger_body_bytes"])
		expect(text).toContain(`posthorn_budget_used{budget="${name}"} 0\n`);
});

test("an unknown client that holds all connections loses idle ones to others", async () => {
	await start({ parts: () => ({ connectionLimits: { connections: 8 } }) });
	const mine = await open(GET("/healthz"), "127.0.0.2");
	expect(await answers(mine, 1)).toContain(" 200 ");
	const mineAccepted = accepted[0]!;
	for (let i = 0; i < 20; i++) await open(i % 2 ? "GET / HTTP/1.1\r\nX: " : "", "127.0.0.1");
	const late = await open(GET("/healthz"), "127.0.0.3");
	expect(await answers(late, 1)).toContain(" 200 ");
	expect(accepted.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(8);
	expect(mineAccepted.destroyed).toBe(false);
	const { text } = await api.call("GET", "/metrics");
	expect(text).toContain('posthorn_budget_limit{budget="api_connections"} 8\n');
	// A connection was freed each time.
	expect(text).toContain('posthorn_budget_refusals_total{budget="api_connections"} 0\n');
});

// Only idle connections were closed, so others were kept out until their responses had stalled.
test("an unknown client that holds most connections without reading loses some to others", async () => {
	await start({ parts: () => ({ connectionLimits: { connections: 4 } }) });
	const mine = await open(GET("/healthz"), "127.0.0.2");
	expect(await answers(mine, 1)).toContain(" 200 ");
	for (let i = 0; i < 3; i++) {
		// More than the buffers of both sides hold.
		const deaf = await open(GET("/docs/reference.js").repeat(CONNECTIONS.requestsInWork), "127.0.0.1");
		deaf.pause();
	}
	await acceptedAll(4);
	// The kernel accepts no more of any response.
	await until("full buffers", () => accepted.slice(1).every(({ writableLength }) => writableLength > 0));
	const late = await open(GET("/healthz"), "127.0.0.3");
	expect(await answers(late, 1)).toContain(" 200 ");
	expect(accepted.map(({ destroyed }) => destroyed)).toEqual([false, true, false, false, false]);
});

// Each new connection of such an address once closed an idle one of the next largest address.
test("the address with most connections, all busy, gets no more at the expense of others", async () => {
	const busy = Promise.withResolvers<void>();
	let calls = 0;
	class Counted extends LongPolls {
		override wait(...call: Parameters<LongPolls["wait"]>) {
			if (++calls === 3) busy.resolve();
			return super.wait(...call);
		}
	}
	await start({ longPolls: new Counted(systemClock), parts: () => ({ connectionLimits: { connections: 4 } }) });
	const project = await api.project();
	const mine = await open(GET("/healthz"), "127.0.0.2");
	expect(await answers(mine, 1)).toContain(" 200 ");
	for (let i = 0; i < 3; i++) await open(GET(`${project}/events?wait=30`), "127.0.0.1");
	await busy.promise;
	const refused = await open(GET("/healthz"), "127.0.0.1");
	refused.resume();
	await Promise.race([once(refused, "end"), closed(refused)]);
	expect(accepted.slice(0, 4).map(({ destroyed }) => destroyed)).toEqual([false, false, false, false]);
	// An address without connections gets the only idle one.
	const late = await open(GET("/healthz"), "127.0.0.3");
	expect(await answers(late, 1)).toContain(" 200 ");
	expect(accepted.slice(0, 4).map(({ destroyed }) => destroyed)).toEqual([true, false, false, false]);
});

// With one connection from each of many /64s, no network seemed to hold more than any other.
test("connections from several /64s of one IPv6 /48 count together", async () => {
	await start({ parts: () => ({ connectionLimits: { connections: 4 } }) });
	const addresses = ["192.0.2.1", "2001:db8:1:1::1", "2001:db8:1:2::1", "2001:db8:1:3::1", "2001:db8:1:4::1"];
	let next = 0;
	api.app.server.prependListener("connection", (socket: Socket) =>
		Object.defineProperty(socket, "remoteAddress", { value: addresses[next++] }),
	);
	for (const _ of addresses) expect(await answers(await open(GET("/healthz")), 1)).toContain(" 200 ");
	expect(accepted.map(({ destroyed }) => destroyed)).toEqual([false, true, false, false, false]);
});

test("closes idle connections, those of proxies later", async () => {
	let elapsed = 0;
	await start({
		parts: ({ config, clock }) => ({
			connectionLimits: { idleMs: 500, checkMs: 50 },
			config: { ...config, trustProxy: ["127.0.0.2/32"] },
			clock: { ...clock, elapsed: () => elapsed },
		}),
	});
	const proxy = await open(GET("/healthz"), "127.0.0.2");
	const [byProxy] = [await answers(proxy, 1)];
	expect(byProxy).toContain(`Keep-Alive: timeout=${CONNECTIONS.proxyIdleMs / 1_000}\r\n`);
	const idle = await open(GET("/healthz"));
	expect(await answers(idle, 1)).toContain("keep-alive: timeout=0\r\n");
	const slow = await open(GET("/healthz"));
	expect(await answers(slow, 1)).toContain(" 200 ");
	const { bytesRead } = accepted[2]!;
	slow.write("GET /healthz HTTP/1.1\r\n");
	await until("the beginning of a request", () => accepted[2]!.bytesRead > bytesRead);
	elapsed += 500;
	await closed(accepted[1]!);
	const answer = answers(slow, 1);
	slow.write("Host: a\r\n\r\n");
	expect(await answer).toContain(" 200 ");
	expect([accepted[0]!.destroyed, accepted[2]!.destroyed]).toEqual([false, false]);
});

// Unauthenticated clients once got 100 Continue before their key was checked.
test("sends 100 Continue only after accepting the key", async () => {
	await start({});
	const head = (authorization: string) =>
		`POST /v1/projects HTTP/1.1\r\nHost: a\r\n${authorization}Content-Type: application/json\r\nContent-Length: 12\r\nExpect: 100-continue\r\n\r\n`;
	const keyless = await open(head(""));
	expect(await answers(keyless, 1)).toMatch(/^HTTP\/1.1 401 /);
	const known = await open(head(`Authorization: Bearer ${OPERATOR_KEY}\r\n`));
	expect(await answers(known, 1)).toBe("HTTP/1.1 100 Continue\r\n\r\n");
	known.write('{"name":"a"}');
	expect(await answers(known, 1)).toMatch(/^HTTP\/1.1 201 /);
});

test("refuses new connections while all are busy", async () => {
	const both = Promise.withResolvers<void>();
	let calls = 0;
	class Counted extends LongPolls {
		override wait(...call: Parameters<LongPolls["wait"]>) {
			if (++calls === 2) both.resolve();
			return super.wait(...call);
		}
	}
	await start({ longPolls: new Counted(systemClock), parts: () => ({ connectionLimits: { connections: 2 } }) });
	const project = await api.project();
	const waiting = await Promise.all([1, 2].map(() => open(GET(`${project}/events?wait=30`))));
	await both.promise;
	const answered = waiting.map((client) => answers(client, 1));
	const refused = await open(GET("/healthz"));
	refused.resume();
	await Promise.race([once(refused, "end"), closed(refused)]);
	await api.publish(project);
	for (const answer of answered) expect(await answer).toContain(" 200 ");
});

// Hundreds of requests in one packet were all started in the same turn.
test("starts few pipelined requests per turn, and closes the connection if there are too many", async () => {
	let inTurn = 0;
	let most = 0;
	let all = 0;
	await start({
		parts: () => ({
			ready() {
				all++;
				if (++inTurn === 1)
					setImmediate(() => {
						inTurn = 0;
					});
				most = Math.max(most, inTurn);
				return true;
			},
		}),
	});
	const fits = CONNECTIONS.requestsInWork + CONNECTIONS.requestsWaiting;
	const polite = await open(GET("/readyz").repeat(fits));
	const text = await answers(polite, fits);
	expect(text.match(/HTTP\/1.1 200/g)).toHaveLength(fits);
	expect(all).toBe(fits);
	let made = 0;
	api.app.server.on("request", () => made++);
	const flood = await open(GET("/readyz").repeat(400));
	flood.resume();
	await closed(accepted[1]!);
	// Requests after the one too many aren't started, even if they arrived with it.
	expect(made).toBe(fits + 1);
	expect(all).toBeLessThanOrEqual(fits + CONNECTIONS.requestsInWork);
	expect(most).toBeLessThanOrEqual(CONNECTIONS.requestsInWork);
});

// Node answered them by itself, all in one turn: four connections without a key kept others' publishing waiting for
// seconds. Their unread responses were kept for as long as the client liked.
test("starts few requests with an unknown expectation per turn", async () => {
	await start({});
	const get = "GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: a\r\n\r\n";
	const fits = CONNECTIONS.requestsInWork + CONNECTIONS.requestsWaiting;
	const polite = await open(get.repeat(fits));
	expect((await answers(polite, fits)).match(/HTTP\/1.1 200/g)).toHaveLength(fits);
	const flood = await open(get.repeat(400));
	flood.resume();
	await closed(accepted[1]!);
});

test("a request without a host, or with several, ends its connection", async () => {
	await start({});
	const heads = ["", "Host: a\r\nHost: b\r\n", "Host: a, b\r\n"];
	for (const [i, head] of heads.entries()) {
		let made = 0;
		const count = () => void made++;
		api.app.server.on("request", count);
		const answer = await answers(await open(`GET /healthz HTTP/1.1\r\n${head}\r\n`.repeat(400)), 1);
		expect(answer).toMatch(/^HTTP\/1.1 400 /);
		expect(answer).toContain("exactly one Host header");
		await closed(accepted[i]!);
		// Those that arrived with it aren't even read.
		expect(made).toBe(1);
		api.app.server.off("request", count);
	}
	// Of several keys, the first was used.
	const [key] = GET("/v1/projects").split("\r\n").slice(2);
	const twice = GET("/v1/projects").replace(key!, `${key}\r\n${key}`);
	expect(await answers(await open(twice), 1)).toContain(" 401 ");
	const one = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
	for (const text of ["GET /healthz HTTP/1.0\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost:\r\n\r\n", one])
		expect(await answers(await open(text), 1)).toContain(" 200 ");
});

// Each invalid part set a timer, as many as fit into half a second.
test("further invalid parts of a request that has its response change nothing", async () => {
	const timers: (() => void)[] = [];
	const setTimeout = (run: () => void, ms: number) => {
		if (ms !== CONNECTIONS.lingerMs) return systemClock.setTimeout(run, ms);
		timers.push(run);
		return { cancel: () => undefined };
	};
	await start({ parts: ({ clock }) => ({ clock: { ...clock, setTimeout } }) });
	const errors = new Signal();
	let count = 0;
	api.app.server.on("clientError", () => {
		count++;
		errors.look();
	});
	const client = await open(GET("/healthz").replace("\r\n\r\n", "\r\nTransfer-Encoding: chunked\r\n\r\n"));
	expect(await answers(client, 1)).toContain(" 200 ");
	for (const expected of [1, 2]) {
		client.write("none\r\n");
		await errors.until("an error", () => count === expected);
	}
	expect(timers).toHaveLength(1);
	timers[0]!();
	await closed(accepted[0]!);
});

// Each had a copy of its own, which no budget counted.
test("clients that don't read the API's document share its bytes", async () => {
	await start({});
	const { length } = (await api.call("GET", "/openapi.json")).text;
	// As if the kernel's buffers were full.
	api.app.server.prependListener("connection", (socket: Socket) =>
		Object.assign(socket, { _write: () => {}, _writev: () => {} }),
	);
	const before = process.memoryUsage().arrayBuffers;
	const count = 40;
	for (let i = 0; i < count; i++) await open(GET("/openapi.json"));
	const areUnread = () => accepted.length === count && accepted.every(({ writableLength }) => writableLength > 0);
	await until("full buffers", areUnread);
	expect(process.memoryUsage().arrayBuffers - before).toBeLessThan((count * length) / 4);
	for (const socket of accepted) socket.destroy();
});

test("disconnects a client that doesn't read, but not one on a quiet stream", async () => {
	await start({ parts: () => ({ connectionLimits: { stallMs: 300, readMs: 600, checkMs: 50 } }) });
	const project = await api.project();
	const listener = await open(GET(`${project}/changes`));
	expect(await once(listener, "data")).toHaveLength(1);
	// More than the buffers of both sides hold.
	const deaf = await open(GET("/docs/reference.js").repeat(CONNECTIONS.requestsInWork));
	deaf.pause();
	await acceptedAll(2);
	await closed(accepted[1]!);
	expect(accepted[0]!.destroyed).toBe(false);
});
