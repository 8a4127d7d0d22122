import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { type Answer, answered } from "../engine/send/receiver.fixture.ts";

let api: TestApi;
beforeAll(async () => {
	api = await TestApi.start();
});
afterEach(() => {
	api.receiver.answer = answered(200);
});
afterAll(() => api.close());

/** Waits for this many more attempts. */
test("an attempt is complete in the list and on its own", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	api.receiver.answer = answered(503, Buffer.concat([Buffer.from("öh \xff"), Buffer.alloc(2_000, "x")]));
	const id = await api.publish(project);
	await api.attempted();
	const { json } = await api.call("GET", `${project}/attempts`);
	expect(json.data).toHaveLength(1);
	const attempt = json.data[0]!;
	const [request] = api.receiver.requests.slice(-1);
	expect(attempt).toMatchObject({
		webhook_id: webhook.split("/").at(-1),
		event_id: id,
		event_type: "delivery.success",
		attempt: 1,
		replay: 0,
		method: "POST",
		url: api.receiver.url(),
		request_body: request!.body.toString(),
		status_code: 503,
		error_code: null,
		error: null,
		response_truncated: true,
		status: "failed",
		next_retry_at: null,
	});
	expect(String(attempt.response_body)).toMatch(/^öh ÿx+$/);
	for (const [name, value] of Object.entries(attempt.request_headers))
		expect(request!.head.toLowerCase()).toContain(`${name}: ${value}`.toLowerCase());
	expect(Object.keys(attempt.request_headers)).toHaveLength(6);
	expect((await api.call("GET", `${project}/attempts/${attempt.id}`)).json).toEqual(attempt);
	const delivery = await api.call("GET", `${webhook}/deliveries/${id}`);
	expect(delivery.json).toEqual({
		state: "dead_lettered",
		attempt: 1,
		replay: 0,
		next_retry_at: null,
		dismissed: false,
		attempts: [attempt],
	});
});

test("bytes that aren't text are shown as U+FFFD", async () => {
	const project = await api.project();
	await api.webhook(project);
	api.receiver.answer = answered(200, Buffer.from([0x61, 0xff, 0x00, 0x62]));
	await api.publish(project);
	await api.attempted();
	const { json } = await api.call("GET", `${project}/attempts`);
	expect(json.data[0]?.response_body).toBe("a\ufffd\u0000b");
});

// It once had headers, one of them an empty signature, and its response time was counted among the receivers'.
test("an attempt that reached no receiver has no headers or response time, and says why", async () => {
	const project = await api.project();
	const url = "https://localhost:1/";
	const webhook = await api.webhook(project, { url });
	await api.publish(project);
	await api.attempted();
	const { json } = await api.call("GET", `${project}/attempts?status=failed`);
	expect(json.data[0]).toMatchObject({ status_code: null, error_code: "connection_refused", response_body: "", url });
	expect(json.data[0]!.request_headers).toEqual({});
	expect(String(json.data[0]!.error)).toMatch(/refused/);
	expect(webhook).toContain(String(json.data[0]!.webhook_id));
	const { total } = (await api.call("GET", `${project}/stats`)).json;
	expect(total).toMatchObject({ failed: 1, success_rate: 0, p50_ms: null, p95_ms: null });
});

test("the log is filtered by everything at once, newest first, in pages", async () => {
	const project = await api.project();
	const one = await api.webhook(project, { events: ["delivery.success", "delivery.failed"] });
	const other = await api.webhook(project);
	const ids: string[] = [];
	for (let i = 0; i < 4; i++) ids.push(await api.publish(project, { i }));
	await api.attempted(8);
	api.receiver.answer = answered(500);
	const failing = await api.call("POST", `${project}/events`, { body: { type: "delivery.failed", data: {} } });
	await api.attempted();
	const list = async (query: string): Promise<{ id: string; event_id: string }[]> => {
		const { status, json } = await api.call("GET", `${project}/attempts?${query}`);
		expect(status).toBe(200);
		return json.data as unknown as { id: string; event_id: string }[];
	};
	const all = await list("");
	expect(all).toHaveLength(9);
	expect(all.map(({ id }) => id)).toEqual(
		all
			.map(({ id }) => id)
			.sort()
			.reverse(),
	);
	const oneId = one.split("/").at(-1)!;
	expect(await list(`webhook_id=${oneId}`)).toHaveLength(5);
	expect(await list("type=delivery.failed")).toHaveLength(1);
	expect(await list("status=delivered")).toHaveLength(8);
	expect((await list("status=failed")).map(({ event_id }) => event_id)).toEqual([failing.json.id]);
	expect(await list("status=retrying")).toEqual([]);
	expect(await list(`event_id=${ids[2]}`)).toHaveLength(2);
	expect(
		await list(`event_id=${ids[2]}&webhook_id=${other.split("/").at(-1)}&status=delivered&type=delivery.success`),
	).toHaveLength(1);
	expect(await list("webhook_id=wh_none")).toEqual([]);
	expect(await list("since=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00Z")).toEqual([]);
	expect(await list("since=2020-01-01T00:00:00%2B02:00")).toHaveLength(9);
	const seen: string[] = [];
	let cursor: unknown = null;
	do {
		const { json } = await api.call("GET", `${project}/attempts?limit=4${cursor === null ? "" : `&cursor=${cursor}`}`);
		seen.push(...json.data.map(({ id }) => String(id)));
		cursor = json.next_cursor;
	} while (cursor !== null);
	expect(seen).toEqual(all.map(({ id }) => id));
});

test.each([
	["status=lost", "?status"],
	["type=nope", "?type"],
	["since=yesterday", "?since"],
	["until=2026-13-01T00:00:00Z", "?until"],
	["since=2026-01-01T00:00:00", "?since"],
	["cursor=ZXZ0XzE", "?cursor"],
	["limit=0", "?limit"],
	["colour=red", "?colour"],
])("refuses to filter the log by %s", async (query, pointer) => {
	const project = await api.project();
	const { status, json } = await api.call("GET", `${project}/attempts?${query}`);
	expect(status).toBe(422);
	expect(json.errors.map((error) => error.pointer)).toEqual([pointer]);
});

test("a page of the log ends early if it gets large", async () => {
	const project = await api.project();
	await api.webhook(project);
	for (let i = 0; i < 20; i++) await api.publish(project, { text: "x".repeat(250_000) });
	await api.attempted(20);
	const first = await api.call("GET", `${project}/attempts`);
	expect(first.json.data.length).toBeLessThan(20);
	expect(first.text.length).toBeLessThan(4.5 * 1024 * 1024);
	const rest = await api.call("GET", `${project}/attempts?cursor=${first.json.next_cursor}`);
	expect(first.json.data.length + rest.json.data.length).toBe(20);
});

test("a finished delivery can be replayed under the same event id", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const held = new Promise<() => void>((resolve) => {
		api.receiver.answer = (socket, request): void => resolve(() => (answered(500) as Answer)(socket, request));
	});
	const id = await api.publish(project);
	const finish = await held;
	const early = await api.call("POST", `${webhook}/deliveries/${id}/replay`);
	expect(early.status).toBe(409);
	expect((await api.call("GET", `${webhook}/deliveries/${id}`)).json.state).toBe("attempting");
	finish();
	await api.attempted();
	api.receiver.answer = answered(200);
	const replayed = await api.call("POST", `${webhook}/deliveries/${id}/replay`);
	expect(replayed.status).toBe(202);
	expect(replayed.json).toEqual({ state: "attempting", attempt: 1, replay: 1 });
	await api.attempted();
	const { json } = await api.call("GET", `${webhook}/deliveries/${id}`);
	expect(json).toMatchObject({ state: "delivered", attempt: 1, replay: 1 });
	expect(json.attempts.map(({ replay, status, event_id }) => [replay, status, event_id])).toEqual([
		[0, "failed", id],
		[1, "delivered", id],
	]);
	expect((await api.call("POST", `${webhook}/deliveries/${id}/replay`, { body: {} })).status).toBe(202);
	await api.attempted();
});

test("replays everything that failed, but not delivered events", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	await api.publish(project);
	await api.attempted();
	api.receiver.answer = answered(500);
	const failed = [await api.publish(project), await api.publish(project), await api.publish(project)];
	await api.attempted(3);
	const none = await api.call("POST", `${webhook}/replay`, {
		body: { status: "failed", until: "2020-01-01T00:00:00Z" },
	});
	expect(none.json).toEqual({ count: 0 });
	api.receiver.answer = answered(200);
	const { status, json } = await api.call("POST", `${webhook}/replay`, {
		body: { status: "failed", since: "2020-01-01T00:00:00Z" },
	});
	expect(status).toBe(202);
	expect(json).toEqual({ count: 3 });
	await api.attempted(3);
	const sent = api.receiver.requests.slice(-3).map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id);
	expect(sent).toEqual(failed);
	expect((await api.call("POST", `${webhook}/replay`, { body: { status: "failed" } })).json).toEqual({ count: 0 });
});

test.each([
	[{}, "/status"],
	[{ status: "delivered" }, "/status"],
	[{ status: "failed", since: "x" }, "/since"],
	[{ status: "failed", all: true }, "/all"],
])("refuses to replay by %j", async (body, pointer) => {
	const webhook = await api.webhook(await api.project());
	const { status, json } = await api.call("POST", `${webhook}/replay`, { body });
	expect(status).toBe(422);
	expect(json.errors.map((error) => error.pointer)).toEqual([pointer]);
});

test("an event that was never a delivery is 404", async () => {
	const project = await api.project();
	const id = await api.publish(project);
	const webhook = await api.webhook(project);
	for (const event of [id, "evt_none", "x", "%00", "evt_01kbjh6mrxe3q8z1v2t4w5y6a7"]) {
		expect((await api.call("GET", `${webhook}/deliveries/${event}`)).status, event).toBe(404);
		expect((await api.call("POST", `${webhook}/deliveries/${event}/replay`)).status, event).toBe(404);
	}
	for (const attempt of ["att_none", "x", "%00", "att_01kbjh6mrxe3q8z1v2t4w5y6a7"])
		expect((await api.call("GET", `${project}/attempts/${attempt}`)).status, attempt).toBe(404);
});

test("refuses a body on calls without one", async () => {
	const webhook = await api.webhook(await api.project());
	const { status } = await api.call("POST", `${webhook}/rotate-secret`, { body: { secret: "mine" } });
	expect(status).toBe(422);
});

test("a failed attempt has the headers that explain its response, and a delivered one has none", async () => {
	const project = await api.project();
	await api.webhook(project);
	const headers = "Location: /login\r\nSet-Cookie: secret=1\r\nServer: nginx\r\n";
	for (const [status, kept] of [
		[302, { location: "/login", server: "nginx" }],
		[200, {}],
	] as const) {
		api.receiver.answer = answered(status, "", headers);
		await api.publish(project);
		await api.attempted();
		const [attempt] = (await api.call("GET", `${project}/attempts?limit=1`)).json.data;
		expect(attempt).toMatchObject({ status_code: status, response_headers: kept, dns: null, certificate: null });
	}
});

test("a failed attempt has the certificate that was rejected, and what name servers answered", async () => {
	const project = await api.project();
	// The receiver's certificate is for another name.
	await api.webhook(project, { url: api.receiver.url("/hook", "127.0.0.1") });
	await api.publish(project);
	await api.attempted();
	const [attempt] = (await api.call("GET", `${project}/attempts?limit=1`)).json.data;
	expect(attempt).toMatchObject({
		...{ status_code: null, error_code: "tls_wrong_host", response_headers: {}, dns: null },
		certificate: {
			...{ subject: "CN=Test receiver", issuer: expect.stringMatching(/^CN=Test authority/), names: ["localhost"] },
			...{ valid_from: expect.any(String), valid_to: expect.any(String) },
		},
	});
});
