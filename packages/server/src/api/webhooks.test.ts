import { EVENT_TYPES } from "@posthorn/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { header, signatureOf } from "../engine/send/receiver.fixture.ts";

let api: TestApi;
let project: string;
beforeAll(async () => {
	api = await TestApi.start({ maxWebhooksPerProject: 3 });
});
afterAll(() => api.close());

async function freshProject(): Promise<string> {
	project = await api.project();
	return project;
}

const valid = { url: "https://example.com/hook", events: ["purchase.completed"] };

test("the catalogue lists every type with its schema and sample", async () => {
	const { status, json } = await api.call("GET", "/v1/event-types");
	expect(status).toBe(200);
	const entries = json as unknown as { type: string }[];
	expect(entries.map(({ type }) => type)).toEqual(EVENT_TYPES.map(({ type }) => type));
	expect(Object.keys(entries[0]!)).toEqual(["type", "description", "future", "schema", "sample"]);
});

test("a webhook is created with its secret, and found again without", async () => {
	await freshProject();
	const { status, json } = await api.call("POST", `${project}/webhooks`, {
		body: { ...valid, description: " Büro ", max_in_flight: 100 },
	});
	expect(status).toBe(201);
	const { secret, ...webhook } = json;
	expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{88}$/);
	expect(webhook).toMatchObject({
		...valid,
		description: "Büro",
		status: "active",
		max_in_flight: 100,
		backlog: { events: 0, oldest_seq: null, oldest_at: null },
	});
	expect((await api.call("GET", `${project}/webhooks/${webhook.id}`)).json).toEqual(webhook);
	expect((await api.call("GET", `${project}/webhooks`)).json).toEqual({ data: [webhook], next_cursor: null });
});

test("omitted fields have their defaults", async () => {
	await freshProject();
	const { json } = await api.call("POST", `${project}/webhooks`, { body: valid });
	expect(json).toMatchObject({ description: "", max_in_flight: 1, status: "active" });
});

test("all types can be selected, and are listed in catalogue order", async () => {
	await freshProject();
	const events = EVENT_TYPES.map(({ type }) => type);
	const { json } = await api.call("POST", `${project}/webhooks`, { body: { ...valid, events: events.toReversed() } });
	expect(json.events).toEqual(events);
	expect((await api.call("GET", `${project}/webhooks/${json.id}`)).json.events).toEqual(events);
});

test.each([
	[{ url: "http://example.com/" }, "/url"],
	[{ url: "https://10.0.0.1/" }, "/url"],
	[{ url: "https://[::1]/" }, "/url"],
	[{ url: "https://169.254.169.254/latest" }, "/url"],
	[{ url: "https://user:pass@example.com/" }, "/url"],
	[{ url: "https://" }, "/url"],
	[{ url: "not a url" }, "/url"],
	[{ url: "/hook" }, "/url"],
	[{ url: " https://example.com/" }, "/url"],
	[{ url: "https://exam\tple.com/" }, "/url"],
	[{ url: "https://example.com/\u0000" }, "/url"],
	[{ url: "https://example.com/\ud800" }, "/url"],
	[{ url: `https://example.com/${"x".repeat(2_048)}` }, "/url"],
	[{ url: `https://example.com/${"ä".repeat(400)}` }, "/url"],
	[{ url: "https://example.com/#top" }, "/url"],
	[{ url: "https://example.com/#" }, "/url"],
	[{ url: "javascript:alert(1)" }, "/url"],
	[{ url: "file:///etc/passwd" }, "/url"],
	[{ url: 5 }, "/url"],
	[{ url: "" }, "/url"],
	[{ description: "x".repeat(201) }, "/description"],
	[{ description: "two\nlines" }, "/description"],
	[{ description: null }, "/description"],
	[{ description: "\u200b" }, "/description"],
	[{ events: [] }, "/events"],
	[{ events: ["purchase.completed", "purchase.completed"] }, "/events"],
	[{ events: "purchase.completed" }, "/events"],
	[{ events: ["purchase.completed", "nope"] }, "/events/1"],
	[{ events: [{ valueOf: 1 }, { valueOf: 1 }] }, "/events/0"],
	[{ max_in_flight: 0 }, "/max_in_flight"],
	[{ max_in_flight: 101 }, "/max_in_flight"],
	[{ max_in_flight: 1.5 }, "/max_in_flight"],
	[{ max_in_flight: "1" }, "/max_in_flight"],
	[{ max_in_flight: 1e300 }, "/max_in_flight"],
	[{ status: "paused" }, "/status"],
	[{ secret: "mine" }, "/secret"],
])("refuses a webhook with %j", async (fields, pointer) => {
	await freshProject();
	const { status, json } = await api.call("POST", `${project}/webhooks`, { body: { ...valid, ...fields } });
	expect(status).toBe(422);
	expect(json.errors.map((error) => error.pointer)).toContain(pointer);
	expect((await api.call("GET", `${project}/webhooks`)).json.data).toEqual([]);
});

test("reports faults from the schema and from the rules together", async () => {
	await freshProject();
	const { json } = await api.call("POST", `${project}/webhooks`, {
		body: { url: "http://example.com", description: "a\u0007b", events: ["nope"], max_in_flight: 0, more: 1 },
	});
	expect(json.errors.map((error) => String(error.pointer)).sort()).toEqual([
		"/description",
		"/events/0",
		"/max_in_flight",
		"/more",
		"/url",
	]);
	expect(json.errors.find(({ pointer }) => String(pointer) === "/url")?.detail).toMatch(/https:\/\//);
});

test("limits a project's webhooks", async () => {
	await freshProject();
	for (let i = 0; i < 3; i++) expect((await api.call("POST", `${project}/webhooks`, { body: valid })).status).toBe(201);
	const refused = await api.call("POST", `${project}/webhooks`, { body: valid });
	expect(refused.status).toBe(409);
	expect(refused.json.detail).toMatch(/has 3 webhooks/);
	const page = await api.call("GET", `${project}/webhooks?limit=2`);
	expect(page.json.data).toHaveLength(2);
	const rest = await api.call("GET", `${project}/webhooks?limit=2&cursor=${page.json.next_cursor}`);
	expect(rest.json.data).toHaveLength(1);
	expect(rest.json.next_cursor).toBeNull();
});

test("a webhook is changed field by field", async () => {
	await freshProject();
	const webhook = await api.webhook(project);
	const before = (await api.call("GET", webhook)).json;
	for (const change of [
		{ url: "https://example.org/new" },
		{ description: "new" },
		{ events: ["purchase.refunded"] },
		{ max_in_flight: 7 },
		{ status: "paused" },
		{ status: "active", from: "now" },
		{ from: "now" },
		{},
	]) {
		const { from: _from, ...fields } = change as Record<string, unknown>;
		Object.assign(before, fields);
		const { status, json } = await api.call("PATCH", webhook, { body: change });
		expect(status).toBe(200);
		expect(json).toEqual(before);
	}
});

test.each([
	["https://example.com", "https://example.com/"],
	["HTTPS://Example.COM:443/b/a/../pp?x=ä", "https://example.com/b/pp?x=%C3%A4"],
	["https://bücher.example/%7e/./x?", "https://xn--bcher-kva.example/%7e/x"],
])("%s is shown as it will be called: %s", async (url, called) => {
	await freshProject();
	const created = await api.call("POST", `${project}/webhooks`, { body: { ...valid, url } });
	expect(created.json.url).toBe(called);
	const webhook = await api.webhook(project);
	expect((await api.call("PATCH", webhook, { body: { url } })).json.url).toBe(called);
});

test.each([
	[{ from: "backlog" }, "/from"],
	[{ status: "paused", from: "now" }, "/from"],
	[{ status: "active", from: "yesterday" }, "/from"],
	[{ status: "asleep" }, "/status"],
	[{ url: "http://example.com" }, "/url"],
	[{ events: [] }, "/events"],
	[{ id: "wh_1" }, "/id"],
])("refuses to change a webhook to %j", async (body, pointer) => {
	await freshProject();
	const webhook = await api.webhook(project);
	const before = await api.call("GET", webhook);
	const { status, json } = await api.call("PATCH", webhook, { body });
	expect(status).toBe(422);
	expect(json.errors.map((error) => error.pointer)).toContain(pointer);
	expect((await api.call("GET", webhook)).json).toEqual(before.json);
});

test("deleted webhooks are listed with their names, in their own project", async () => {
	const [project, other] = [await api.project(), await api.project()];
	const create = async (description: string) =>
		(
			await api.call("POST", `${project}/webhooks`, {
				body: { url: api.receiver.url(), description, events: ["purchase.completed"] },
			})
		).json.id;
	const [first, second] = [await create("Accounting"), await create("Shipping")];
	await create("Chat");
	for (const id of [first, second]) await api.call("DELETE", `${project}/webhooks/${id}`);
	const { status, json } = await api.call("GET", `${project}/webhooks/deleted?limit=1`);
	expect(status).toBe(200);
	expect(json.data).toEqual([
		{ id: first, url: api.receiver.url(), description: "Accounting", deleted_at: expect.stringMatching(/Z$/) },
	]);
	const next = await api.call("GET", `${project}/webhooks/deleted?limit=1&cursor=${json.next_cursor}`);
	expect(next.json).toMatchObject({ data: [{ id: second, description: "Shipping" }], next_cursor: null });
	expect((await api.call("GET", `${other}/webhooks/deleted`)).json).toEqual({ data: [], next_cursor: null });
});

test("a deleted webhook is 404 for every call", async () => {
	await freshProject();
	const webhook = await api.webhook(project);
	expect((await api.call("DELETE", webhook)).status).toBe(204);
	for (const [method, path, body] of [
		["DELETE", ""],
		["GET", ""],
		["PATCH", "", {}],
		["POST", "/rotate-secret"],
		["POST", "/test", { type: "purchase.completed" }],
		["POST", "/replay", { status: "failed" }],
		["GET", "/deliveries/evt_1"],
		["POST", "/deliveries/evt_1/replay"],
	] as const)
		expect((await api.call(method, webhook + path, { body })).status, `${method} ${path}`).toBe(404);
	expect((await api.call("GET", `${project}/webhooks`)).json.data).toEqual([]);
});

test("the secret that was shown signs; after a rotation, only the new one", async () => {
	await freshProject();
	const body = { url: api.receiver.url(), events: ["delivery.success"] };
	const created = await api.call("POST", `${project}/webhooks`, { body });
	const sent = async (): Promise<[string, (secret: string) => string]> => {
		const request = new Promise<(typeof api.receiver.requests)[number]>((resolve) =>
			api.receiver.once("request", resolve),
		);
		await api.publish(project);
		const received = await request;
		const timestamp = header(received, "X-Service-Timestamp")!;
		return [header(received, "X-Service-Signature")!, (secret) => signatureOf(secret, timestamp, received.body)];
	};
	const [first, firstBy] = await sent();
	expect(first).toBe(firstBy(created.json.secret));
	const rotated = await api.call("POST", `${project}/webhooks/${created.json.id}/rotate-secret`);
	expect(rotated.status).toBe(200);
	expect(rotated.json.secret).not.toBe(created.json.secret);
	const [second, secondBy] = await sent();
	expect(second).toBe(secondBy(rotated.json.secret));
	expect(second).not.toBe(secondBy(created.json.secret));
});

test("a test event only goes to its webhook; a paused webhook refuses any, and others refuse types they aren't subscribed to", async () => {
	await freshProject();
	const webhook = await api.webhook(project, {
		url: api.receiver.url("/one"),
		events: ["chargeback.created"],
	});
	await api.webhook(project, { url: api.receiver.url("/other"), events: ["chargeback.created"] });
	const received = new Promise<(typeof api.receiver.requests)[number]>((resolve) =>
		api.receiver.once("request", resolve),
	);
	const { status, json } = await api.call("POST", `${webhook}/test`, { body: { type: "chargeback.created" } });
	expect(status).toBe(202);
	const request = await received;
	expect(request.head).toMatch(/^POST \/one /);
	const sample = EVENT_TYPES.find(({ type }) => type === "chargeback.created")!.sample;
	expect(JSON.parse(request.body.toString())).toMatchObject({ id: json.event_id, data: sample });
	const found = await api.call("GET", `${project}/events/${json.event_id}`);
	expect(found.text).toBe(request.body.toString());
	expect((await api.call("GET", `${project}/events`)).json.data).toEqual([]);

	expect((await api.call("POST", `${webhook}/test`, { body: { type: "nope" } })).status).toBe(422);
	const unwanted = await api.call("POST", `${webhook}/test`, { body: { type: "purchase.completed" } });
	expect(unwanted.status).toBe(422);
	expect(unwanted.json.errors).toMatchObject([{ pointer: "/type" }]);
	await api.call("PATCH", webhook, { body: { status: "paused" } });
	expect((await api.call("POST", `${webhook}/test`, { body: { type: "chargeback.created" } })).status).toBe(409);
});

test("reports a paused webhook's backlog, which can be skipped", async () => {
	await freshProject();
	const webhook = await api.webhook(project);
	await api.call("PATCH", webhook, { body: { status: "paused" } });
	await api.publish(project);
	await api.publish(project);
	const waiting = await api.call("GET", webhook);
	expect(waiting.json.backlog).toMatchObject({ events: 2, oldest_seq: 1 });
	expect(waiting.json.backlog.oldest_at).toMatch(/Z$/);
	const resumed = await api.call("PATCH", webhook, { body: { status: "active", from: "now" } });
	expect(resumed.json.backlog).toEqual({ events: 0, oldest_seq: null, oldest_at: null });
});
