import { copyFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { unusedPort, within } from "@posthorn/testkit";
import { afterAll, beforeAll, expect, expectTypeOf, onTestFinished, test, vi } from "vitest";
import { waitMs } from "../src/follow.ts";
import {
	ApiError,
	type Client,
	ConnectionError,
	createClient,
	type EventPage,
	InvalidCallError,
	LogBehindError,
	type NewEvent,
	newEventId,
	type OnRetry,
	type Position,
} from "../src/index.ts";
import { delayMs } from "../src/retry.ts";
import { Service } from "./service.fixture.ts";

const ORDER = {
	type: "purchase.completed",
	data: { order_id: "ord_1", customer_email: "ann@example.com", amount_cents: 1999, currency: "EUR", items: [] },
} as const satisfies NewEvent;
const QUICK = { retries: 3, maxDelayMs: 5_000 };

let service: Service;
beforeAll(async () => {
	service = await Service.start();
});
afterAll(() => service.close());

test("publishes typed events, one or many", async () => {
	const posthorn = await service.project();
	const one = await posthorn.publish(ORDER);
	expect(one).toMatchObject({ seq: 1, type: "purchase.completed", project_id: posthorn.id });
	expect(one.id).toMatch(/^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
	const many = await posthorn.publish([
		{ ...ORDER, id: "evt_a" },
		{ type: "delivery.success", data: { order_id: "1" } },
	]);
	expect(many.map(({ seq }) => seq)).toEqual([2, 3]);
	expect(many[0]!.id).toBe("evt_a");
	const { event, seq } = await posthorn.get("evt_a");
	expect([seq, event.data]).toEqual([2, ORDER.data]);
	expect(JSON.parse(event.raw)).toEqual(event);
	expect(Object.keys(event)).not.toContain("raw");

	// @ts-expect-error the amount is a number
	const wrongData: NewEvent = { type: "purchase.completed", data: { ...ORDER.data, amount_cents: "19.99" } };
	// @ts-expect-error there is no such type
	const wrongType: NewEvent = { type: "purchase.complete", data: {} };
	expect([wrongData, wrongType]).toHaveLength(2);
	if (event.type === "purchase.completed") expectTypeOf(event.data.amount_cents).toEqualTypeOf<number>();
});

test("a client that could never make a call isn't created", () => {
	const options = { url: service.url, key: "phk_1", project: "proj_1" };
	expect(() => createClient({ ...options, key: " " })).toThrow('createClient needs "key".');
	for (const key of ["phk_…", "phk_1\nphk_2", "phk 1"])
		expect(() => createClient({ ...options, key })).toThrow(/got a key with .* Pass all of phk_…, as it was shown\.$/);
	const urls = ["hooks.example.com", "localhost:8420", "ftp://example.com", "https://me:secret@example.com"];
	for (const url of [...urls, `${service.url}/#/logs`, `${service.url}/?project=1`])
		expect(() => createClient({ ...options, url })).toThrow("give one such as https://hooks.example.com.");
	// They repeated calls without an end, or without a pause.
	for (const retry of [
		{ retries: Number.NaN },
		{ maxDelayMs: Number.NaN },
		{ timeoutMs: 0 },
		{ timeoutMs: Infinity },
		{ giveUpAfterMs: -1 },
	])
		expect(() => createClient({ ...options, retry })).toThrow(
			new RegExp(`^createClient got \\S+ as retry\\.${Object.keys(retry)[0]}; give a number from `),
		);
	// The first retry ended the call with "onRetry is not a function" instead of what went wrong.
	const onRetry = "log" as unknown as OnRetry;
	expect(() => createClient({ ...options, retry: { onRetry } })).toThrow("got log as retry.onRetry; give a function.");
	const retry = { retries: Number.POSITIVE_INFINITY, maxDelayMs: 0, timeoutMs: 1_500.5 };
	expect(() => createClient({ ...options, retry })).not.toThrow();
});

// Only the one after the key was ignored: the project wasn't found, and a URL with a space before it was refused.
test("ignores the line breaks that files end with", async () => {
	const { id, key } = await service.keyOfProject();
	const posthorn = service.clientOf(`${id}\n`, `${key}\n`, { url: `${service.url} \r\n` });
	expect(await posthorn.publish(ORDER)).toMatchObject({ project_id: id });
});

test("a call that can't be made fails with its reason, without a retry", async () => {
	let tries = 0;
	const counting: typeof fetch = (input, init) => {
		tries++;
		return fetch(input, init);
	};
	const options = { key: "phk_1", project: "proj_1", fetch: counting };
	const blocked = createClient({ ...options, url: "http://127.0.0.1:6000" });
	for (const call of [blocked.get("evt_1"), blocked.publish(ORDER), blocked.end(), blocked.follow().next()])
		await expect(call).rejects.toThrow(/^(?:GET|POST) \S+ can't be sent: fetch refuses to connect to this port; let/);
	expect(tries).toBe(4);
	const header: typeof fetch = (input) => fetch(input, { headers: { "X-Trace": "…" } });
	const wrong = createClient({ ...options, url: service.url, fetch: header });
	await expect(wrong.get("evt_1")).rejects.toThrow(InvalidCallError);
	await expect(wrong.get("evt_1")).rejects.toThrow(/^(?!.*can't be reached).* can't be sent: .*[^.]\.$/);
});

test.each([
	[null, "null"],
	[undefined, "undefined"],
	["purchase.completed", "string"],
	[[ORDER, null], "null"],
	[[[ORDER]], "an array within an array"],
])("publish(%j) says what to pass, and sends nothing", async (given, name) => {
	const posthorn = createClient({ url: service.url, key: "phk_1", project: "proj_1", fetch: () => expect.fail() });
	const published = posthorn.publish(given as unknown as NewEvent);
	await expect(published).rejects.toThrow(InvalidCallError);
	await expect(published).rejects.toThrow(`publish got ${name} instead of an event: pass one such as { type: `);
});

// It read from the start of the log, and ignored the rest.
test.each(["start", 812, null, undefined, {}, { limit: 2 }])("refuses to read from %j", async (from) => {
	const posthorn = createClient({ url: service.url, key: "phk_1", project: "proj_1", fetch: () => expect.fail() });
	const page = posthorn.read(from as unknown as Position);
	await expect(page).rejects.toThrow(InvalidCallError);
	await expect(page).rejects.toThrow(`read got ${JSON.stringify(from)} as its position: pass one that a page gave you`);
});

// The service refused "null" as an epoch, and the columns as parameters that it doesn't have.
test("takes a position from a row of a database, with null for a missing epoch and with other columns", async () => {
	const posthorn = await service.project({ retry: { retries: 0 } });
	await posthorn.publish(ORDER);
	const row = { after: 0, epoch: null, name: "orders", updated_at: new Date() } as unknown as Position;
	expect((await posthorn.read(row)).events).toHaveLength(1);
	expect((await posthorn.follow({ from: row }).next()).value!.events).toHaveLength(1);
});

const circular: { after?: unknown } = {};
circular.after = circular;

// The error was JSON's own TypeError, which names neither the call nor the argument.
test.each([
	[{ after: 812n, epoch: "a" }, '{"after":812n,"epoch":"a"}'],
	[812n, "812n"],
	[circular, "[object Object]"],
	[Symbol("start"), "Symbol(start)"],
])("refuses a position that JSON can't hold, such as a database's BigInt: %s", async (from, shown) => {
	const posthorn = createClient({ url: service.url, key: "phk_1", project: "proj_1", fetch: () => expect.fail() });
	const page = posthorn.read(from as never);
	await expect(page).rejects.toThrow(InvalidCallError);
	await expect(page).rejects.toThrow(`read got ${shown} as its position: pass one`);
	const followed = posthorn.follow({ from: from as never }).next();
	await expect(followed).rejects.toThrow(InvalidCallError);
	await expect(followed).rejects.toThrow(`follow got ${shown} as "from": pass a position`);
});

test("refuses to publish what JSON can't hold", async () => {
	const posthorn = createClient({ url: service.url, key: "phk_1", project: "proj_1", fetch: () => expect.fail() });
	for (const data of [{ ...ORDER.data, amount_cents: 1999n }, circular])
		for (const events of [{ ...ORDER, data }, [ORDER, { ...ORDER, data }]]) {
			const published = posthorn.publish(events as never);
			await expect(published).rejects.toThrow(InvalidCallError);
			await expect(published).rejects.toThrow("publish got an event that JSON can't hold: one with a BigInt");
		}
});

// It asked for the event "{event_id}".
test.each([undefined, null, "", 7])("refuses to get the event %j", async (id) => {
	const posthorn = createClient({ url: service.url, key: "phk_1", project: "proj_1", fetch: () => expect.fail() });
	const got = posthorn.get(id as never);
	await expect(got).rejects.toThrow(InvalidCallError);
	await expect(got).rejects.toThrow(/^get got .* instead of an event's id, such as evt_/);
});

test("says why the service can't be reached, whatever fetch throws", async () => {
	const options = { key: "phk_1", project: "proj_1", retry: { retries: 0 } };
	const encrypted = createClient({ ...options, url: service.url.replace("http:", "https:") });
	const { host } = new URL(service.url);
	const away = `: the service at ${host} can't be reached`;
	await expect(encrypted.end()).rejects.toThrow(`${away} (TLS: wrong version number).`);
	const throwing = (error: Error) =>
		createClient({ ...options, url: service.url, fetch: async () => Promise.reject(error) }).end();
	// As Bun 1.4 says it.
	const refused = "ECONNREFUSED: Unable to connect. Is the computer able to access the url?";
	const bun = throwing(Object.assign(new TypeError(refused), { code: "ECONNREFUSED" }));
	await expect(bun).rejects.toThrow(ConnectionError);
	await expect(bun).rejects.toThrow(`${away} (${refused}).`);
	// As Node says it, with an address, and as Deno 2.9 does.
	for (const said of [`connect ECONNREFUSED ${host}`, `error sending request for url (http://${host}/v1): refused`]) {
		const named = throwing(new TypeError("fetch failed", { cause: new Error(said) }));
		await expect(named).rejects.toThrow(`: the service can't be reached (${said}).`);
	}
	// In Deno; following would have tried again without an end.
	const deno = throwing(new TypeError("Fetch failed: Requests to port 6000 are blocked"));
	await expect(deno).rejects.toThrow(InvalidCallError);
	await expect(deno).rejects.toThrow(/can't be sent: fetch refuses to connect to this port; let/);
});

// It read the whole log again.
test.each(["begin", 812, null, {}, { after: "812" }])("refuses to follow from %j", async (from) => {
	const posthorn = createClient({ url: service.url, key: "phk_1", project: "proj_1", fetch: () => expect.fail() });
	const page = posthorn.follow({ from: from as unknown as Position }).next();
	await expect(page).rejects.toThrow(InvalidCallError);
	await expect(page).rejects.toThrow(`follow got ${JSON.stringify(from)} as "from": pass a position that it gave you`);
});

// Only reads worked: publishing passed it Node's own Request, and failed with "Failed to parse URL".
test("takes another fetch, such as that of the package undici, which only knows its own Request", async () => {
	const other: typeof fetch = (input, init) => {
		if (input instanceof Request) throw new TypeError("Failed to parse URL from [object Request]");
		return fetch(input, init);
	};
	const posthorn = await service.project({ fetch: other });
	const { id } = await posthorn.publish(ORDER);
	expect((await posthorn.get(id)).seq).toBe(1);
	const [params, body] = [{ path: { project_id: posthorn.id, basket_id: "b1" } }, { items: [{}] }];
	const { data } = await posthorn.api.PUT("/v1/projects/{project_id}/baskets/{basket_id}", { params, body });
	expect(data).toMatchObject({ basket_id: "b1" });
});

test("a lost response is retried with the same id, and nothing is published twice", async () => {
	let tries = 0;
	const losing: typeof fetch = async (input, init) => {
		const response = await fetch(input, init);
		if (tries++ < 2) throw new TypeError("fetch failed", { cause: new Error("socket hang up") });
		return response;
	};
	const posthorn = await service.project({ fetch: losing, retry: QUICK });
	const { id } = await posthorn.publish(ORDER);
	expect(tries).toBe(3);
	const { events } = await posthorn.read({ after: 0 });
	expect(events.map((event) => event.id)).toEqual([id]);
});

test.each([
	["429, even for calls that aren't idempotent", 429, "1", 2],
	["an outage", 503, null, 2],
	["an outage that lasts longer than the client waits", 503, "60", 1],
	["an error that a retry can't change", 500, null, 1],
])("after %s it tries as often as it should", async (_, status, after, tries) => {
	let seen = 0;
	const failing: typeof fetch = async (input, init) => {
		if (seen++ > 0) return fetch(input, init);
		return new Response("busy", { status, headers: after === null ? {} : { "retry-after": after } });
	};
	const retries: [name: string, isDelay: boolean][] = [];
	const onRetry = ({ name }: Error, delayMs: number) => void retries.push([name, delayMs > 0]);
	const posthorn = await service.project({ fetch: failing, retry: { ...QUICK, onRetry } });
	const result = await posthorn.publish(ORDER).catch((error: unknown) => error);
	expect(seen).toBe(tries);
	expect(retries).toEqual(Array(tries - 1).fill(["ApiError", true]));
	if (tries === 1) expect(result).toMatchObject({ name: "ApiError", status, retryAfter: after && Number(after) });
	else expect(result).toMatchObject({ seq: 1 });
});

// With a service that never responds, the tries added up to minutes.
test("no try begins after the time to give up", async () => {
	let seen = 0;
	const silent: typeof fetch = (_, init) => {
		seen++;
		return new Promise((_, reject) => init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason)));
	};
	const posthorn = await service.project({ fetch: silent, retry: { timeoutMs: 1, giveUpAfterMs: 0 } });
	await expect(posthorn.publish(ORDER)).rejects.toThrow("within 0.001 s");
	expect(seen).toBe(1);
});

/** What each kind of call throws. */
async function failuresOf(posthorn: Client): Promise<unknown[]> {
	const writes = [posthorn.publish(ORDER), posthorn.publish([ORDER])];
	const reads = [posthorn.read({ after: 0 }), posthorn.end(), posthorn.get("evt_1"), posthorn.follow().next()];
	const results = await Promise.allSettled([...writes, ...reads]);
	return results.map((result) => (result.status === "rejected" ? result.reason : result.value));
}

// fetch turns a redirected POST into a GET: the event was never published, and publish returned a page of the log.
test.each([301, 302, 303, 307, 308])("a redirect (%i) isn't followed, and says where it leads", async (status) => {
	const away: string[] = [];
	const proxy = createServer(({ method = "", url = "" }, response) => {
		if (url.startsWith("/moved")) away.push(`${method} ${url}`);
		const headers = { location: `/moved${url}`, "content-type": "application/json" };
		response.writeHead(url.startsWith("/moved") ? 200 : status, headers).end('{"data":[],"last_seq":0,"epoch":"1.1"}');
	});
	const { id, key } = await service.keyOfProject();
	await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
	const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
	const posthorn = createClient({ url, key, project: id });
	for (const error of await failuresOf(posthorn)) {
		expect(error).toMatchObject({ name: "ApiError", status, code: "unknown" });
		expect((error as ApiError).detail).toMatch(
			/^The response is a redirect to \/moved\/v1\/projects\/.*a URL that leads/,
		);
	}
	expect(away).toEqual([]);
	proxy.closeAllConnections();
	await new Promise((resolve) => proxy.close(resolve));
});

test.each(["{}", "null", "[]", "<html>Welcome</html>", "", '{"data":{}}', '{"events":[]}'])(
	"a 200 with %j isn't taken for the service's response",
	async (body) => {
		const other: typeof fetch = async () => new Response(body, { headers: { "content-length": String(body.length) } });
		const posthorn = createClient({ url: service.url, key: "phk_1", project: "proj_1", fetch: other });
		for (const error of await failuresOf(posthorn)) {
			expect(error).toMatchObject({ name: "ApiError", status: 200, code: "unknown" });
			expect((error as ApiError).message).toMatch(
				/^(?:GET|POST) \/v1\/projects\/proj_1\/events\S* → 200: .*Does the URL lead to/,
			);
		}
	},
);

// It was a SyntaxError, "Unexpected token '<'", which the command line showed for a URL of another server.
test.each(["<html>Welcome</html>", ""])(
	"a 200 with %j isn't taken for what a call of the API returns",
	async (body) => {
		const headers = body === "" ? { "content-type": "application/json" } : {};
		const other: typeof fetch = async () => new Response(body, { headers });
		const { api } = createClient({ url: service.url, key: "phk_1", project: "proj_1", fetch: other });
		await expect(api.GET("/v1/projects")).rejects.toMatchObject({
			...{ name: "ApiError", status: 200, code: "unknown" },
			message: expect.stringMatching(/^GET \/v1\/projects → 200: The response .*Does the URL lead to/),
		});
	},
);

// Only the method, headers, body, cache and credentials did.
test("a call's own options reach fetch", async () => {
	const passed: (RequestInit | undefined)[] = [];
	const project: typeof fetch = async (input, init) => {
		passed.push(init);
		return fetch(input, init);
	};
	const { api, id } = await service.project({ fetch: project });
	const options = {
		keepalive: true,
		referrerPolicy: "no-referrer",
		cache: "no-store",
		next: { revalidate: 60 },
	} as const;
	const params = { path: { project_id: id } };
	expect((await api.GET("/v1/projects/{project_id}/webhooks", { params, ...options })).data!.data).toEqual([]);
	expect(passed).toEqual([expect.objectContaining({ ...options, method: "GET", redirect: "manual" })]);
});

test("a response of the service is parsed once", async () => {
	const { api, id } = await service.project();
	const parse = vi.spyOn(JSON, "parse");
	try {
		await api.GET("/v1/projects/{project_id}/webhooks", { params: { path: { project_id: id } } });
		// Response.json() parses without it.
		expect(parse.mock.calls.length).toBeLessThanOrEqual(1);
	} finally {
		parse.mockRestore();
	}
});

test("pages and the end of the log are retried like other calls", async () => {
	let seen = 0;
	const failing: typeof fetch = async (input, init) =>
		seen++ % 2 === 0 ? new Response("", { status: 503 }) : fetch(input, init);
	const posthorn = await service.project({ fetch: failing, retry: QUICK });
	expect(await posthorn.end()).toMatchObject({ after: 0 });
	expect(await posthorn.read({ after: 0 })).toMatchObject({ events: [], position: { after: 0 } });
	expect(seen).toBe(4);
});

test("a POST without an id of its own isn't repeated after an outage", async () => {
	let seen = 0;
	const failing: typeof fetch = async () => {
		seen++;
		return new Response("", { status: 503 });
	};
	const { api, id } = await service.project({ fetch: failing, retry: QUICK });
	const path = { project_id: id };
	const body = { url: "https://example.com/", events: ["purchase.completed"] as const };
	await expect(api.POST("/v1/projects/{project_id}/webhooks", { params: { path }, body })).rejects.toThrow(ApiError);
	expect(seen).toBe(1);
	await expect(api.GET("/v1/projects/{project_id}/webhooks", { params: { path } })).rejects.toThrow(ApiError);
	expect(seen).toBe(1 + 1 + QUICK.retries);
});

// Without an id, each try published another event.
test('an event that is published through "api" isn\'t repeated after an outage', async () => {
	let seen = 0;
	const losing: typeof fetch = async (input, init) => {
		const response = await fetch(input, init);
		if (seen++ === 0) throw new TypeError("fetch failed", { cause: new Error("socket hang up") });
		return response;
	};
	const posthorn = await service.project({ fetch: losing, retry: QUICK });
	const path = { project_id: posthorn.id };
	const published = posthorn.api.POST("/v1/projects/{project_id}/events", { params: { path }, body: ORDER });
	await expect(published).rejects.toThrow(ConnectionError);
	expect((await posthorn.read({ after: 0 })).events).toHaveLength(1);
});

test.each([502, 503, 504, 520, 521, 522, 523, 524, 530])("%i is an outage", async (status) => {
	let seen = 0;
	const failing: typeof fetch = async (input, init) =>
		seen++ === 0 ? new Response("", { status }) : fetch(input, init);
	const posthorn = await service.project({ fetch: failing, retry: QUICK });
	expect(await posthorn.publish(ORDER)).toMatchObject({ seq: 1 });
});

test("waits double, keep to Retry-After and are spread", () => {
	expect([0, 1, 2, 3].map((tries) => delayMs(tries, null, 1_500, () => 1))).toEqual([250, 500, 1_000, 1_500]);
	expect([0, 1].map((random) => delayMs(2, null, 30_000, () => random))).toEqual([500, 1_000]);
	expect([0, 1].map((random) => delayMs(0, 3, 30_000, () => random))).toEqual([3_000, 3_125]);
	expect(delayMs(0, 31, 30_000)).toBeNull();
});

// It asked again every 15 seconds a service that had asked for a minute.
test("following waits for as long as the service asks, up to an hour", () => {
	expect([0, 1, 9, 99].map((tries) => waitMs(tries, null, () => 1))).toEqual([250, 500, 15_000, 15_000]);
	expect([0, 1].map((random) => waitMs(0, 60, () => random))).toEqual([60_125, 60_250]);
	expect(waitMs(0, 86_400, () => 1)).toBe(3_600_250);
});

test("errors say what is wrong, where, and what to do", async () => {
	const posthorn = await service.project();
	const bad = { ...ORDER, data: { ...ORDER.data, amount_cents: -5 } };
	const error = (await posthorn.publish([ORDER, bad]).catch((thrown: unknown) => thrown)) as ApiError;
	expect(error).toBeInstanceOf(ApiError);
	expect(error).toMatchObject({ status: 422, code: "invalid", type: "/problems/invalid" });
	expect(error.errors[0]!.pointer).toBe("/events/1/data/amount_cents");
	expect(error.message).toContain(`POST /v1/projects/${posthorn.id}/events → 422`);
	expect(error.message).toContain("/events/1/data/amount_cents must be");
	expect(error.requestId).toMatch(/\w+/);

	const unknown = createClient({ url: service.url, key: "phk_unknown", project: posthorn.id });
	await expect(unknown.publish(ORDER)).rejects.toMatchObject({ status: 401, code: "unauthorized" });
	const elsewhere = createClient({ url: `${service.url}/elsewhere/`, key: "k", project: "p" });
	await expect(elsewhere.publish(ORDER)).rejects.toMatchObject({ status: 404 });
	// The service prints this address when it starts.
	const below = createClient({ url: `${service.url}/v1`, key: "k", project: "p" });
	await expect(below.publish(ORDER)).rejects.toThrow(/\/v1\/v1\/.* → 404: .* Leave \/v1 out of the service's URL\.$/);
	// Another sentence may follow it, as in the command line.
	const down: typeof fetch = async () => new Response("down for maintenance", { status: 503 });
	const maintained = createClient({ url: service.url, key: "k", project: "p", fetch: down, retry: { retries: 0 } });
	await expect(maintained.publish(ORDER)).rejects.toThrow(/ It says: "down for maintenance"\.$/);
	const nobody = createClient({
		url: `http://127.0.0.1:${await unusedPort()}`,
		key: "k",
		project: "p",
		retry: { retries: 1 },
	});
	await expect(nobody.publish(ORDER)).rejects.toThrow(ConnectionError);
	expect(() => createClient({ url: service.url, key: "", project: "p" })).toThrow(/"key".*environment variable/);
});

// Two made the client throw a TypeError. All counted as responses of the service.
test.each([
	{ errors: { name: ["required"] }, detail: "See errors." },
	{ type: "/problems/invalid", errors: { name: ["required"] }, detail: "See errors." },
	{ detail: "You are being rate limited." },
])("a problem document of another server is %j, not the service's", async (members) => {
	const type = "https://tools.example.com/errors/invalid";
	const foreign: typeof fetch = async () => Response.json({ type, title: "Bad", ...members }, { status: 400 });
	const posthorn = createClient({ url: service.url, key: "phk_1", project: "proj_1", fetch: foreign });
	for (const error of await failuresOf(posthorn)) {
		expect(error).toMatchObject({ name: "ApiError", status: 400, code: "unknown", errors: [] });
		expect((error as ApiError).message).toContain(members.detail);
	}
});

test("a signal ends a call while it waits for its next try", async () => {
	const refusing: typeof fetch = async () => new Response("", { status: 429, headers: { "retry-after": "20" } });
	const posthorn = await service.project({ fetch: refusing });
	const stop = new AbortController();
	const publishing = posthorn.publish(ORDER, { signal: stop.signal });
	stop.abort(new Error("enough"));
	await expect(publishing).rejects.toThrow("enough");
});

test("a stream of events may last longer than a call", async () => {
	// So the calls, which a busy machine may delay, can't time out themselves.
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
	onTestFinished(() => void vi.useRealTimers());
	const timeoutMs = 1_000;
	const { api, id } = await service.project({ retry: { timeoutMs } });
	const path = { project_id: id };
	const { data } = await api.GET("/v1/projects/{project_id}/changes", { params: { path }, parseAs: "stream" });
	const stream = (data as unknown as ReadableStream<Uint8Array>).getReader();
	const next = async () => Buffer.from((await stream.read()).value ?? []).toString();
	expect(await next()).toContain("listening");
	await vi.advanceTimersByTimeAsync(2 * timeoutMs);
	const body = { url: "https://example.com/", events: ["purchase.completed"] as const };
	await api.POST("/v1/projects/{project_id}/webhooks", { params: { path }, body });
	expect(await next()).toContain("webhooks");
	await stream.cancel();
});

test("a call without a response ends with its timeout", async () => {
	const silent: typeof fetch = (_input, init) =>
		new Promise((_, reject) => {
			const signal = init!.signal!;
			signal.addEventListener("abort", () => reject(signal.reason));
		});
	const posthorn = await service.project({ fetch: silent, retry: { timeoutMs: 20.5, retries: 1 } });
	const error = await posthorn.publish(ORDER).catch((thrown: unknown) => thrown);
	expect(error).toMatchObject({
		name: "ConnectionError",
		message: expect.stringMatching(/: no response from 127\.0\.0\.1:\d+ within 0\.0205 s\.$/),
	});
	expect((error as ConnectionError).cause).toMatchObject({ name: "TimeoutError" });
});

test("ids are TypeIDs that sort by time", () => {
	const ids = [0, 1, 1_700_000_000_000, 2 ** 48 - 1].map((now) => newEventId(now));
	expect(ids.toSorted()).toEqual(ids);
	expect(ids[0]).toMatch(/^evt_0000000000/);
	expect(ids[3]).toMatch(/^evt_7zzzzzzzzz/);
	expect(new Set(Array.from({ length: 1_000 }, () => newEventId())).size).toBe(1_000);
});

/** Takes pages until `count` events have come. */
async function take(pages: AsyncGenerator<EventPage>, count: number) {
	const seen: string[] = [];
	let position: Position = { after: 0 };
	while (seen.length < count) {
		const { value } = await within("a page", pages.next());
		seen.push(...(value as EventPage).events.map(({ id }) => id));
		({ position } = value as EventPage);
	}
	return { seen, position };
}

test("follows the log across kills of the service, from a stored position, and loses nothing", async () => {
	const posthorn = await service.project();
	const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `evt_${from + i}`);
	const publish = (names: readonly string[]) => posthorn.publish(names.map((id) => ({ ...ORDER, id })));
	const retries: Error[] = [];
	const onRetry = (error: Error) => retries.push(error);
	await publish(ids(0, 30));
	const first = await take(posthorn.follow({ limit: 7 }), 14);
	expect(first.seen).toEqual(ids(0, 14));

	const stop = new AbortController();
	const pages = posthorn.follow({ from: JSON.parse(JSON.stringify(first.position)), signal: stop.signal, onRetry });
	expect((await take(pages, 16)).seen).toEqual(ids(14, 30));
	for (const [from, to] of [
		[30, 40],
		[40, 50],
	] as const) {
		const next = take(pages, 10);
		await service.kill();
		await service.startAgain();
		await publish(ids(from, to));
		expect((await next).seen).toEqual(ids(from, to));
	}
	expect(retries.length).toBeGreaterThan(0);
	const waiting = pages.next();
	stop.abort(new Error("enough"));
	await expect(waiting).rejects.toThrow("enough");
});

// A proxy's page while it was set up again ended programs that had followed the log for months.
test.each([
	[404, "<h1>404 Not Found</h1>", {}],
	[200, "<h1>We'll be back soon</h1>", {}],
	[302, "", { location: "https://status.example.com/" }],
])(
	"what only a proxy says (%i) doesn't end following, once the service has responded",
	async (status, body, headers) => {
		let isAway = true;
		const proxied: typeof fetch = (input, init) =>
			isAway ? Promise.resolve(new Response(body, { status, headers })) : fetch(input, init);
		const posthorn = await service.project({ fetch: proxied, retry: QUICK });
		await expect(posthorn.follow().next()).rejects.toMatchObject({ name: "ApiError", status, code: "unknown" });
		isAway = false;
		await posthorn.publish({ ...ORDER, id: "evt_1" });
		const retries: Error[] = [];
		const onRetry = (error: Error) => {
			retries.push(error);
			isAway = false;
		};
		const pages = posthorn.follow({ onRetry });
		expect((await take(pages, 1)).seen).toEqual(["evt_1"]);
		await posthorn.publish({ ...ORDER, id: "evt_2" });
		isAway = true;
		expect((await take(pages, 1)).seen).toEqual(["evt_2"]);
		expect(retries).toMatchObject([{ name: "ApiError", status, code: "unknown" }]);
	},
);

test("following ends if the service refuses it", async () => {
	const posthorn = await service.project();
	await posthorn.publish({ ...ORDER, id: "evt_1" });
	const pages = posthorn.follow();
	await take(pages, 1);
	const keys = (await service.get(`/v1/projects/${posthorn.id}/api-keys`)) as { data: { id: string }[] };
	const refused = expect(pages.next()).rejects.toMatchObject({ name: "ApiError", status: 401, code: "unauthorized" });
	for (const { id } of keys.data) await service.delete(`/v1/projects/${posthorn.id}/api-keys/${id}`);
	await refused;
});

test("follows only new events and chosen types, with their exact text", async () => {
	const posthorn = await service.project();
	await posthorn.publish(ORDER);
	const pages = posthorn.follow({ from: await posthorn.end(), types: ["delivery.success", "delivery.failed"] });
	const next = take(pages, 1);
	await posthorn.publish(ORDER);
	const body =
		'{"type":"delivery.success","id":"evt_exact","data":{"order_id":"}],\\"","n":12345678901234567890,"é":1e2}}';
	await service.post(`/v1/projects/${posthorn.id}/events`, JSON.parse(body));
	expect((await next).seen).toEqual(["evt_exact"]);
	const { events } = await posthorn.read({ after: 1 }, { types: ["delivery.success"] });
	expect(events.map(({ raw }) => raw)).toEqual([(await posthorn.get("evt_exact")).event.raw]);
	expect(await posthorn.end()).toMatchObject({ after: 3 });
});

test("says that the log lost its tail, and continues at the given position", async () => {
	const posthorn = await service.project();
	await posthorn.publish([{ ...ORDER, id: "evt_kept" }]);
	const file = join(service.folder, "data/posthorn.db");
	const copy = join(service.folder, "copy.db");
	const database = new DatabaseSync(file, { readOnly: true });
	await backup(database, copy);
	database.close();
	await posthorn.publish([{ ...ORDER, id: "evt_lost" }]);
	const { position } = await posthorn.read({ after: 0 });
	await service.stop();
	for (const ending of ["", "-wal", "-shm"]) rmSync(file + ending, { force: true });
	copyFileSync(copy, file);
	await service.startAgain();

	const failing = posthorn.follow({ from: position }).next();
	const error = (await failing.catch((thrown: unknown) => thrown)) as LogBehindError;
	expect(error).toBeInstanceOf(LogBehindError);
	expect(error).toMatchObject({ status: 409, code: "log-behind", lastSeq: 1, position: { after: 1 } });

	const told: LogBehindError[] = [];
	const pages = posthorn.follow({ from: position, onLogBehind: (lost) => void told.push(lost) });
	expect((await pages.next()).value).toMatchObject({ events: [], position: { after: 1 } });
	await posthorn.publish([{ ...ORDER, id: "evt_new" }]);
	expect((await take(pages, 1)).seen).toEqual(["evt_new"]);
	expect(told).toHaveLength(1);
});
