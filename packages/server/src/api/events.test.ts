import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { REQUESTS } from "../base/budgets.ts";
import type { PublishResult } from "../engine/engine.ts";
import type { Params } from "../storage/port.ts";

const MAX_EVENT_BYTES = 10_000;

let api: TestApi;
let project: string;
beforeAll(async () => {
	api = await TestApi.start({ maxEventBytes: MAX_EVENT_BYTES });
});
afterAll(() => api.close());

const purchase = { order_id: "o", customer_email: "a@b", amount_cents: 1, currency: "EUR", items: [] };
const event = { type: "delivery.success", data: { n: 1 } };
const publish = (body: unknown) => api.call("POST", `${project}/events`, { body });
const publishRaw = (raw: string | Uint8Array) => api.call("POST", `${project}/events`, { raw });

beforeAll(async () => {
	project = await api.project();
});

test("an event is published, found, and numbered without gaps", async () => {
	project = await api.project();
	const first = await publish(event);
	expect(first.status).toBe(202);
	expect(Object.keys(first.json)).toEqual(["id", "seq", "type", "created_at", "project_id"]);
	expect(first.json).toMatchObject({ seq: 1, type: "delivery.success", project_id: project.split("/").at(-1) });
	expect((await publish(event)).json.seq).toBe(2);
	const found = await api.call("GET", `${project}/events/${first.json.id}`);
	expect(found.headers["x-posthorn-seq"]).toBe("1");
	expect(found.json).toMatchObject({ id: first.json.id, created_at: first.json.created_at, data: { n: 1 } });
});

test("publishes a batch as a whole, in order", async () => {
	project = await api.project();
	const batch = await publish({ events: Array.from({ length: 1_000 }, (_, n) => ({ ...event, data: { n } })) });
	expect(batch.status).toBe(202);
	expect(batch.json.events.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_000 }, (_, i) => i + 1));
	const page = await api.call("GET", `${project}/events?limit=200`);
	expect(page.json.data.map(({ data }) => data.n)).toEqual(Array.from({ length: 200 }, (_, n) => n));
	expect(page.json.last_seq).toBe(200);
});

test("returns data character for character", async () => {
	project = await api.project();
	const data =
		'{ "big": 12345678901234567890, "f": 1.0, "2": "b", "1": "a", "esc": "\\u00e9\\ud83d\\ude00 é 😀 \\/", "a":1,"a":2 ,\n"__proto__": {"x": 1}, "constructor": {"prototype": null}, "half": "\\ud800" }';
	const published = await publishRaw(`{"data":"shadowed","type" : "delivery.success", "d\\u0061ta" : ${data} }`);
	expect(published.status).toBe(202);
	const { text } = await api.call("GET", `${project}/events/${published.json.id}`);
	expect(text.endsWith(`,"data":${data}}`)).toBe(true);
	const page = await api.call("GET", `${project}/events`);
	expect(page.text).toBe(`{"data":[${text}],"next_cursor":null,"last_seq":1,"epoch":"1.00000000"}`);

	const other = '{"y" : [1,  2]}';
	const batch = await publishRaw(
		`{"events":[{"type":"delivery.failed","data":{}}, {"data":${other},"type":"delivery.success"}]}`,
	);
	const second = await api.call("GET", `${project}/events/${batch.json.events[1]!.id}`);
	expect(second.text.endsWith(`,"data":${other}}`)).toBe(true);
});

test("a repeated event gets the first response; other content is a conflict", async () => {
	project = await api.project();
	const body = { ...event, id: "evt_order-1_paid" };
	const first = await publish(body);
	expect(first.json).toMatchObject({ id: body.id, seq: 1 });
	expect((await publish(body)).json).toEqual(first.json);
	const other = await publish({ ...body, data: { n: 2 } });
	expect(other.status).toBe(409);
	expect(other.json.errors).toMatchObject([{ pointer: "/id" }]);
	const batch = await publish({ events: [event, { ...body, type: "delivery.failed" }] });
	expect(batch.status).toBe(409);
	expect(batch.json.errors).toMatchObject([{ pointer: "/events/1/id" }]);
	// The earlier event may be in the same call: no one finds it in the log.
	const unpublished = { ...body, id: "evt_order-2_paid" };
	const within = await publish({ events: [unpublished, { ...unpublished, data: { n: 3 } }] });
	expect([within.status, within.json.errors]).toMatchObject([409, [{ pointer: "/events/1/id" }]]);
	expect(within.json.detail).toMatch(/published before, or comes earlier in this batch/);
	expect((await api.call("GET", `${project}/events`)).json.data).toHaveLength(1);
});

test("accepts a time with any offset", async () => {
	const { json } = await publish({ ...event, created_at: "2026-01-02T03:04:05.678+02:00" });
	expect(json.created_at).toBe("2026-01-02T01:04:05.678Z");
});

test.each([
	[{ data: {} }, ["/type"]],
	[{ type: "delivery.success" }, ["/data"]],
	[{ ...event, type: "nope" }, ["/type"]],
	[{ ...event, type: { toString: 1, valueOf: 1 } }, ["/type"]],
	[{ ...event, type: "__proto__" }, ["/type"]],
	[{ ...event, data: [] }, ["/data"]],
	[{ ...event, data: null }, ["/data"]],
	[{ ...event, data: "text" }, ["/data"]],
	[{ ...event, id: "ord_1" }, ["/id"]],
	[{ ...event, id: "evt_" }, ["/id"]],
	[{ ...event, id: `evt_${"x".repeat(61)}` }, ["/id"]],
	[{ ...event, id: "evt_a/b" }, ["/id"]],
	[{ ...event, id: "evt_a\n" }, ["/id"]],
	[{ ...event, id: null }, ["/id"]],
	[{ ...event, created_at: "2026-01-02T03:04:05" }, ["/created_at"]],
	[{ ...event, created_at: "2026-02-30T00:00:00Z" }, ["/created_at"]],
	[{ ...event, created_at: "+010000-01-01T00:00:00Z" }, ["/created_at"]],
	[{ ...event, created_at: "yesterday" }, ["/created_at"]],
	[{ ...event, created_at: 5 }, ["/created_at"]],
	[{ ...event, created_at: "9999-12-31T23:59:59.999Z" }, ["/created_at"]],
	[{ ...event, seq: 1, "~": 1 }, ["/seq", "/~0"]],
	[
		{ type: "purchase.completed", data: {} },
		["/data/order_id", "/data/customer_email", "/data/amount_cents", "/data/currency", "/data/items"],
	],
	[{ type: "purchase.completed", data: { ...purchase, currency: "eur" } }, ["/data/currency"]],
	[{ events: [] }, ["/events"]],
	[{ events: {} }, ["/events"]],
	[
		{ events: [event, 5, { ...event, type: "nope", x: 1 }], more: 1 },
		["/more", "/events/1", "/events/2/x", "/events/2/type"],
	],
	[{ events: [event, { type: "purchase.refunded", data: { order_id: "o" } }] }, ["/events/1/data/partial"]],
	[{ events: Array.from({ length: 1_001 }, () => event) }, ["/events"]],
	[[event], [""]],
	["text", [""]],
	[null, [""]],
])("refuses %j and writes nothing", async (body, pointers) => {
	project = await api.project();
	const { status, json } = await publish(body);
	expect(status).toBe(422);
	expect(json.errors.map(({ pointer }) => pointer)).toEqual(pointers);
	expect((await api.call("GET", `${project}/events`)).json.data).toEqual([]);
});

test("says what is wrong with data in the words of the other checks", async () => {
	project = await api.project();
	const faultsOf = async (data: object) => {
		const { json } = await publish({ type: "purchase.completed", data: { ...purchase, ...data } });
		return json.errors.map(({ pointer, detail }) => `${pointer} ${detail}`);
	};
	expect(await faultsOf({ order_id: "", customer_email: "ada", amount_cents: -1, currency: "eur", items: {} })).toEqual(
		[
			"/data/currency must be a currency code that ISO 4217 lists, in capital letters, such as EUR",
			"/data/order_id must not be empty",
			"/data/customer_email must be an e-mail address",
			"/data/amount_cents must be at least 0",
			"/data/items must be an array",
		],
	);
	// Only the first fault in a list is reported.
	expect(await faultsOf({ items: [{ name: 1, quantity: "x" }] })).toEqual(["/data/items/0/name must be a string"]);
	expect(await faultsOf({ items: [{ product_id: true }] })).toEqual([
		"/data/items/0/product_id must be a string or a whole number",
	]);
	expect(await faultsOf({ items: [{ quantity: 0 }] })).toEqual(["/data/items/0/quantity must be more than 0"]);
});

test("limits the size of data and bodies", async () => {
	project = await api.project();
	const fits = { text: "x".repeat(MAX_EVENT_BYTES - '{"text":""}'.length) };
	expect((await publish({ ...event, data: fits })).status).toBe(202);
	const single = await publish({ ...event, data: { text: `${fits.text}x` } });
	expect(single.status).toBe(413);
	expect(single.json.errors).toMatchObject([{ pointer: "/data" }]);
	const batch = await publish({ events: [event, { ...event, data: { text: `${fits.text}x` } }] });
	expect(batch.status).toBe(413);
	expect(batch.json.errors).toMatchObject([{ pointer: "/events/1/data" }]);
	expect((await publish({ ...event, data: { text: "ü".repeat(MAX_EVENT_BYTES / 2) } })).status).toBe(413);
	const whole = await publishRaw(Buffer.alloc(REQUESTS.batchBytes + 1, " "));
	expect(whole.status).toBe(413);
	expect(whole.json.type).toBe("/problems/too-large");
});

test("explains why a body isn't JSON", async () => {
	for (const raw of [
		"",
		"{",
		"nul",
		'{"a":1,}',
		"{'a':1}",
		'{"type":"delivery.success","data":{"a":"\n"}}',
		"\u0000",
	]) {
		const { status, json } = await publishRaw(raw);
		expect(status, raw).toBe(400);
		expect(json.type).toBe("/problems/malformed-request");
	}
	for (const bytes of [
		Buffer.from([0xff]),
		Buffer.from('{"data":"\xed\xa0\x80"}', "latin1"),
		Buffer.from("{}", "utf16le"),
	])
		expect((await publishRaw(bytes)).status).toBe(400);
});

test("limits nesting before parsing", async () => {
	project = await api.project();
	const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
	// The body and its data are two levels.
	const deepest = `{"type":"delivery.success","data":{"a":${nested(REQUESTS.nesting - 2)}}}`;
	expect((await publishRaw(deepest)).status).toBe(202);
	const parse = vi.spyOn(JSON, "parse");
	for (const [text, byte, place] of [
		[nested(100_000), REQUESTS.nesting, "/0"],
		[`{"type":${nested(100_000)},"data":{}}`, 8 + REQUESTS.nesting - 1, "/type"],
		[`{"events":${nested(100_000)}}`, 10 + REQUESTS.nesting - 1, "/events"],
	] as const) {
		parse.mockClear();
		const { status, json } = await publishRaw(text);
		const parsed = parse.mock.calls.filter(([given]) => given === text);
		expect([status, parsed.length]).toEqual([422, 0]);
		expect(json.errors).toEqual([
			{
				pointer: `${place}${"/0".repeat(REQUESTS.nesting - 1)}`,
				detail: `must nest at most ${REQUESTS.nesting} levels; goes deeper at byte ${byte + 1}`,
			},
		]);
	}
	const { status, json } = await api.call("POST", "/v1/projects", { raw: `{"name":${nested(65)}}` });
	expect([status, json.errors[0]?.detail]).toEqual([422, "must nest at most 64 levels; goes deeper at byte 72"]);
	parse.mockRestore();
});

test("limits the number of reported faults", async () => {
	const names = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`k${i}`, i]));
	for (const body of [names, { events: [names, names] }, { events: Array.from({ length: 1_000 }, () => ({})) }]) {
		const { status, json } = await publish(body);
		expect(status).toBe(422);
		expect(json.errors).toHaveLength(1_000);
		expect(json.detail).toMatch(/names 1000 of them/);
	}
	const webhook = await api.call("POST", `${project}/webhooks`, { body: { events: Array(2_000).fill(0) } });
	expect(webhook.json.errors).toHaveLength(1_000);
});

test("refuses other content types and encodings", async () => {
	for (const headers of [
		{ "content-type": "text/plain" },
		{ "content-type": "application/x-www-form-urlencoded" },
		{ "content-type": "application/jsonp" },
		{ "content-type": "nonsense" },
		{ "content-encoding": "gzip" },
	]) {
		const { status } = await api.call("POST", `${project}/events`, { body: event, headers });
		expect(status, JSON.stringify(headers)).toBe(415);
	}
	const charset = { "content-type": "application/json; charset=utf-8" };
	expect((await api.call("POST", `${project}/events`, { body: event, headers: charset })).status).toBe(202);
});

test("reads the log from a position, by type, in pages, each event once", async () => {
	project = await api.project();
	const types = ["delivery.success", "delivery.failed", "basket.abandoned"];
	await publish({ events: Array.from({ length: 9 }, (_, n) => ({ type: types[n % 3], data: { n } })) });
	const numbers = async (query: string): Promise<unknown[]> => {
		const { json } = await api.call("GET", `${project}/events?${query}`);
		return json.data.map(({ data }) => data.n);
	};
	expect(await numbers("after=6")).toEqual([6, 7, 8]);
	expect(await numbers("after=9")).toEqual([]);
	expect(await numbers("type=delivery.failed")).toEqual([1, 4, 7]);
	expect(await numbers("type=delivery.failed,basket.abandoned&after=5")).toEqual([5, 7, 8]);
	expect(await numbers("type=delivery.failed&type=basket.abandoned&after=5")).toEqual([5, 7, 8]);

	const seen: unknown[] = [];
	let query = "limit=2&type=delivery.success";
	for (;;) {
		const { json } = await api.call("GET", `${project}/events?${query}`);
		seen.push(...json.data.map(({ data }) => data.n));
		if (json.next_cursor === null) {
			expect(json.last_seq).toBe(7);
			break;
		}
		query = `limit=2&type=delivery.success&cursor=${json.next_cursor}`;
	}
	expect(seen).toEqual([0, 3, 6]);
	const end = await api.call("GET", `${project}/events?after=9`);
	expect(end.json).toEqual({
		data: [],
		next_cursor: null,
		last_seq: 9,
		epoch: "1.00000000",
	});
});

test("reads the log from an event or a time on", async () => {
	project = await api.project();
	/** The next millisecond: what was published before it is older. */
	const nextTime = () => {
		const before = Date.now();
		let now = before;
		while (now <= before) now = Date.now();
		return now;
	};
	const times: number[] = [];
	for (let n = 0; n < 5; n++) {
		times.push(nextTime());
		// A publisher may backdate events.
		await publish({ id: `evt_${n}`, type: "delivery.success", created_at: new Date(0).toISOString(), data: { n } });
	}
	const read = (query: string) => api.call("GET", `${project}/events?${query}`);
	const numbers = async (query: string) => (await read(query)).json.data.map(({ data }) => data.n);
	for (const [n, at] of times.entries()) {
		const rest = [0, 1, 2, 3, 4].slice(n);
		expect(await numbers(`since=${new Date(at).toISOString()}`)).toEqual(rest);
		expect(await numbers(`after_event=evt_${n}`)).toEqual(rest.slice(1));
	}
	const later = new Date(nextTime()).toISOString();
	expect((await read(`since=${later}`)).json).toMatchObject({ data: [], next_cursor: null, last_seq: 5 });
	expect((await read("after_event=evt_none")).status).toBe(404);
	const { json: webhook } = await api.call("POST", `${project}/webhooks`, {
		body: { url: "https://example.com/", events: ["delivery.success"] },
	});
	const test = await api.call("POST", `${project}/webhooks/${webhook.id}/test`, { body: { type: "delivery.success" } });
	const { status: testStatus, json: testFault } = await read(`after_event=${test.json.event_id}`);
	expect([testStatus, testFault.errors![0]!.pointer]).toEqual([422, "?after_event"]);
	for (const [query, pointer] of [
		["after=1&since=2026-01-01T00:00:00Z", "?since"],
		["after_event=evt_1&after=1", "?after_event"],
		["since=2026-01-01T00:00:00Z&epoch=1.00000000", "?epoch"],
		["since=yesterday", "?since"],
	]) {
		const { status, json } = await read(query!);
		expect([status, json.errors![0]!.pointer], query).toEqual([422, pointer]);
	}
});

// It once got empty pages forever, or other events with numbers that it had already seen.
test("tells a reader beyond the end of the log where to continue, even while waiting", async () => {
	project = await api.project();
	await publish({ events: [event, event] });
	const { epoch } = (await api.call("GET", `${project}/events`)).json;
	for (const query of ["after=3", "after=3&type=delivery.failed", "after=3&wait=30", `after=3&epoch=${epoch}`]) {
		const { status, json } = await api.call("GET", `${project}/events?${query}`);
		expect([status, json.type], query).toEqual([409, "/problems/log-behind"]);
		expect(json).toMatchObject({ last_seq: 2, continue_after: 2, epoch });
	}
	const goingOn = await api.call("GET", `${project}/events?after=2&epoch=${epoch}`);
	expect([goingOn.status, goingOn.json.last_seq]).toEqual([200, 2]);
});

test("tells a reader from an epoch with lost events where to continue", async () => {
	const failedOver = await TestApi.start({
		parts: ({ storage }) => ({
			storage: new Proxy(storage, {
				get(target, key) {
					if (key === "epoch") return "2.00000002";
					if (key === "readLogEnd")
						return async ({ projectId, since }: Params<"readLogEnd">) => {
							const end = await target.readLogEnd({ projectId });
							return end && { ...end, kept: since === "1.00000001" ? 3 : null };
						};
					const value: unknown = Reflect.get(target, key, target);
					return typeof value === "function" ? value.bind(target) : value;
				},
			}),
		}),
	});
	try {
		const path = await failedOver.project();
		await failedOver.call("POST", `${path}/events`, { body: { events: Array(8).fill(event) } });
		const read = (query: string) => failedOver.call("GET", `${path}/events?${query}`);
		const lost = await read("after=5&epoch=1.00000001");
		expect([lost.status, lost.json.type]).toEqual([409, "/problems/log-behind"]);
		expect(lost.json).toMatchObject({ last_seq: 8, continue_after: 3, epoch: "2.00000002" });
		const cursor = Buffer.from("5@1.00000001").toString("base64url");
		expect((await read(`cursor=${cursor}`)).status).toBe(409);
		for (const query of ["after=3&epoch=1.00000001", "after=5&epoch=2.00000002", "after=5"]) {
			const { status, json } = await read(query);
			expect([status, json.last_seq, json.epoch], query).toEqual([200, 8, "2.00000002"]);
		}
	} finally {
		await failedOver.close();
	}
});

test.each([
	["after=-1", "?after"],
	["after=x", "?after"],
	["after=1&cursor=MQ", "?after"],
	["epoch=1.00000000&cursor=MQ", "?epoch"],
	["epoch=1", "?epoch"],
	["cursor=abc", "?cursor"],
	["type=nope", "?type"],
	["type=", "?type"],
	["before=9", "?before"],
])("refuses to read the log by %s", async (query, pointer) => {
	const { status, json } = await api.call("GET", `${project}/events?${query}`);
	expect(status).toBe(422);
	expect(json.errors.map((error) => error.pointer)).toEqual([pointer]);
});

test("a page of the log ends early if it gets large", async () => {
	const large = await TestApi.start({ maxEventBytes: 1_048_576 });
	try {
		const path = await large.project();
		const body = { type: "delivery.success", data: { text: "x".repeat(1_000_000) } };
		for (let i = 0; i < 6; i++) await large.call("POST", `${path}/events`, { body });
		const first = await large.call("GET", `${path}/events`);
		expect(first.json.data.length).toBeLessThan(6);
		expect(first.text.length).toBeLessThan(4.1 * 1024 * 1024);
		const rest = await large.call("GET", `${path}/events?cursor=${first.json.next_cursor}`);
		expect(first.json.data.length + rest.json.data.length).toBe(6);
		expect(rest.json.next_cursor).toBeNull();
	} finally {
		await large.close();
	}
});

test("missing events are 404, for ids of any form", async () => {
	for (const id of [
		"evt_none",
		"evt_01kbjh6mrxe3q8z1v2t4w5y6a7",
		"1",
		"evt_",
		"evt_%00",
		"evt_%2f",
		`evt_${"x".repeat(90)}`,
		"..%2f..",
	])
		expect((await api.call("GET", `${project}/events/${id}`)).status, id).toBe(404);
});

test("tells publishers to retry if the queue is full", async () => {
	const refusals: PublishResult[] = [
		{ kind: "busy", whose: "own" },
		{ kind: "busy", whose: "node" },
		{ kind: "locked" },
	];
	const answers: unknown[] = [];
	for (const refusal of refusals) {
		const busy = await TestApi.start({
			parts: ({ engine }) => ({ engine: { ...engine, publish: () => Promise.resolve(refusal) } }),
		});
		try {
			const { status, headers } = await busy.call("POST", `${await busy.project()}/events`, { body: event });
			answers.push([status, headers["retry-after"]]);
		} finally {
			await busy.close();
		}
	}
	expect(answers).toEqual([
		[429, "1"],
		[503, "1"],
		[503, "5"],
	]);
});
