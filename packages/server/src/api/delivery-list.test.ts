import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import type { Json } from "../../test/api/response.ts";
import { answered } from "../engine/send/receiver.fixture.ts";
import { StorageError } from "../storage/port.ts";

/** So long that no retry is made unless someone asks for it. */
const DELAYS_MS = [3_600_000];

let api: TestApi;
beforeAll(async () => {
	api = await TestApi.start({ retryDelaysMs: DELAYS_MS });
});
afterEach(() => {
	api.receiver.answer = answered(200);
});
afterAll(() => api.close());

const idOf = (path: string): string => path.split("/").at(-1)!;

async function deliver(project: string, status: number, webhooks = 1): Promise<string> {
	api.receiver.answer = answered(status);
	const event = await api.publish(project);
	await api.attempted(webhooks);
	return event;
}

async function list(project: string, query = ""): Promise<readonly Json[]> {
	const { status, json, text } = await api.call("GET", `${project}/deliveries?${query}`);
	expect(status, text).toBe(200);
	return json.data;
}

const told = (rows: readonly Json[]) =>
	rows.map(({ event_id, state, attempts, replay }) => [event_id, state, attempts, replay]);

test("a delivery is one row, however many attempts it has: delivered, waiting or failed", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const delivered = await deliver(project, 200);
	const waiting = await deliver(project, 503);
	const failed = await deliver(project, 404);
	await api.call("POST", `${webhook}/deliveries/${failed}/retry`);
	await api.attempted();
	const rows = await list(project);
	expect(told(rows)).toEqual([
		[failed, "failed", 2, 0],
		[waiting, "waiting", 1, 0],
		[delivered, "delivered", 1, 0],
	]);
	expect(rows[0]).toMatchObject({
		...{ webhook_id: idOf(webhook), event_type: "delivery.success", test: false, next_retry_at: null, handled: null },
		last_attempt: { attempt: 2, status: "failed", status_code: 404 },
	});
	const { json: attempt } = await api.call("GET", `${project}/attempts?event_id=${waiting}`);
	expect(attempt.data[0]).toHaveProperty("next_retry_at", expect.any(String));
	expect(rows[1]).toMatchObject({
		next_retry_at: (attempt.data[0] as unknown as { next_retry_at: string }).next_retry_at,
	});
	for (const [state, event] of [
		["delivered", delivered],
		["waiting", waiting],
		["failed", failed],
	] as const)
		expect(told(await list(project, `state=${state}`)).map(([id]) => id)).toEqual([event]);
	expect(told(await list(project, "state=failed,waiting"))).toHaveLength(2);
});

test("a retry that was delivered leaves no trace as waiting, and one made early is due now", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const event = await deliver(project, 500);
	api.receiver.answer = answered(200);
	await api.call("POST", `${webhook}/deliveries/${event}/retry`);
	await api.attempted();
	expect(told(await list(project))).toEqual([[event, "delivered", 2, 0]]);
	expect(await list(project, "state=waiting")).toEqual([]);
});

test("rows have the order id that they are found by", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const orders = [{ order_id: "ord_1" }, { order_id: 1042 }, { n: 1 }, { order_id: "ord_2", note: "x".repeat(20_000) }];
	for (const data of orders) {
		await api.publish(project, data);
		await api.attempted();
	}
	await api.call("POST", `${webhook}/test`, { body: { type: "delivery.success" } });
	await api.attempted();
	const rows = await list(project);
	expect(rows.map(({ order_id }) => order_id)).toEqual([null, null, null, "1042", "ord_1"]);
	expect((await list(project, "order_id=1042")).map(({ order_id }) => order_id)).toEqual(["1042"]);
	const attempts = (await api.call("GET", `${project}/attempts/summaries`)).json.data;
	expect(attempts.map(({ order_id }: { order_id: string | null }) => order_id)).toEqual([
		...[null, null, null],
		...["1042", "ord_1"],
	]);
	const { text } = await api.call("GET", `${project}/deliveries/export.jsonl`);
	expect(
		text
			.trimEnd()
			.split("\n")
			.map((line) => JSON.parse(line).order_id),
	).toEqual([null, null, null, "1042", "ord_1"]);
});

test("a failed delivery is unhandled until it is replayed", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const event = await deliver(project, 500);
	const path = `${webhook}/deliveries/${event}`;
	await api.call("POST", `${path}/retry`);
	await api.attempted();
	const other = await deliver(project, 500);
	await api.call("POST", `${webhook}/deliveries/${other}/retry`);
	await api.attempted();
	expect(told(await list(project, "state=failed&unhandled=true"))).toHaveLength(2);
	api.receiver.answer = answered(200);
	await api.call("POST", `${path}/replay`);
	await api.attempted();
	expect(told(await list(project, "state=failed&unhandled=true"))).toEqual([[other, "failed", 2, 0]]);
	expect(await list(project, "state=failed")).toMatchObject([
		{ event_id: other, handled: null },
		{ event_id: event, handled: "replayed" },
	]);
	expect(told(await list(project, `event_id=${event}`))).toEqual([
		[event, "delivered", 1, 1],
		[event, "failed", 2, 0],
	]);
});

test("a failed delivery is dismissed: it stays in the list, but needs no decision", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const events: string[] = [];
	for (let i = 0; i < 3; i++) {
		events.push(await deliver(project, 500));
		await api.call("POST", `${webhook}/deliveries/${events[i]}/retry`);
		await api.attempted();
	}
	const waiting = await deliver(project, 500);
	const dismiss = (event: string) => api.call("POST", `${webhook}/deliveries/${event}/dismiss`);
	const deadLetters = async () => {
		const { json } = await api.call("GET", `${project}/webhooks/health`);
		return (json.data[0] as unknown as { dead_letters: number }).dead_letters;
	};
	expect(await deadLetters()).toBe(3);
	expect(await dismiss(events[0]!)).toMatchObject({ status: 200, json: { dismissed: true } });
	expect((await dismiss(events[0]!)).status).toBe(200);
	expect((await dismiss(waiting)).status).toBe(409);
	expect((await dismiss("evt_none")).status).toBe(404);
	expect(await deadLetters()).toBe(2);
	expect(await list(project, "state=failed")).toMatchObject([
		{ event_id: events[2], handled: null },
		{ event_id: events[1], handled: null },
		{ event_id: events[0], handled: "dismissed" },
	]);
	expect((await api.call("GET", `${webhook}/deliveries/${events[0]}`)).json).toMatchObject({ dismissed: true });
	const webhook_id = idOf(webhook);
	const deliveries = [events[1], waiting].map((event_id) => ({ webhook_id, event_id }));
	expect((await api.call("POST", `${project}/dismissals`, { body: { deliveries } })).json).toEqual({
		...{ count: 1, skipped: 1 },
	});
	const body = { filter: { webhook_id } };
	expect((await api.call("POST", `${project}/dismissals`, { body })).json).toEqual({ count: 1, next_cursor: null });
	expect(await list(project, "state=failed&unhandled=true")).toEqual([]);
	expect(await deadLetters()).toBe(0);
	expect((await api.call("POST", `${webhook}/replay`, { body: { status: "failed" } })).json).toEqual({ count: 0 });
	const { json } = await api.call("GET", `${project}/audit`);
	expect(json.data.map((entry) => (entry as unknown as { action: string }).action)).toEqual(
		expect.arrayContaining(["delivery.dismissed", "deliveries.dismissed"]),
	);
});

// Each call was recorded, also one that a client repeated because it got no response.
test("dismissing a delivery again changes nothing, and isn't recorded", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const webhook_id = idOf(webhook);
	const events: string[] = [];
	for (let i = 0; i < 2; i++) {
		events.push(await deliver(project, 500));
		await api.call("POST", `${webhook}/deliveries/${events[i]}/retry`);
		await api.attempted();
	}
	const recorded = async () => {
		const { data } = (await api.call("GET", `${project}/audit`)).json;
		return data.flatMap((entry) => (String(entry.action).endsWith(".dismissed") ? [[entry.action, entry.detail]] : []));
	};
	const single = ["delivery.dismissed", { webhook_id }];
	for (let n = 0; n < 2; n++)
		expect((await api.call("POST", `${webhook}/deliveries/${events[0]}/dismiss`)).json).toEqual({ dismissed: true });
	expect(await recorded()).toEqual([single]);
	const deliveries = events.map((event_id) => ({ webhook_id, event_id }));
	for (let n = 0; n < 2; n++)
		expect((await api.call("POST", `${project}/dismissals`, { body: { deliveries } })).json).toEqual({
			...{ count: 2, skipped: 0 },
		});
	const named = { deliveries: [deliveries[1]], count: 1 };
	expect(await recorded()).toEqual([["deliveries.dismissed", expect.objectContaining(named)], single]);
});

// The response said that storage was away, without the cursor, after deliveries had been dismissed.
test("a dismissal by order that can't tell what it leaves out dismisses nothing", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	api.receiver.answer = answered(500);
	const events: readonly Json[] = (
		await Promise.all(
			[1, 2].map(() =>
				api.call("POST", `${project}/events`, { body: { type: "delivery.success", data: { order_id: "ord_9" } } }),
			),
		)
	).map(({ json }) => json as unknown as Json);
	await api.attempted(2);
	for (const { id } of events) await api.call("POST", `${webhook}/deliveries/${id}/retry`);
	await api.attempted(2);
	const dismiss = () => api.call("POST", `${project}/dismissals`, { body: { filter: { order_id: ["ord_9"] } } });
	const away = new StorageError("lost", "The connection is gone.");
	const counts = vi.spyOn(api.parts.storage, "hasMoreAttempts").mockRejectedValue(away);
	expect((await dismiss()).status).toBe(503);
	counts.mockRestore();
	expect(await list(project, "state=failed&unhandled=true")).toHaveLength(2);
	expect((await dismiss()).json).toMatchObject({ count: 2, next_cursor: null, searched: { capped: false } });
});

test("filters combine, take several values, and pages lose nothing", async () => {
	const project = await api.project();
	const [one, other] = [await api.webhook(project), await api.webhook(project, { events: ["delivery.success"] })];
	const third = await api.webhook(project, { events: ["delivery.failed"] });
	const events: string[] = [];
	for (const status of [200, 500, 404, 503]) events.push(await deliver(project, status, 2));
	api.receiver.answer = answered(200);
	await api.call("POST", `${project}/events`, { body: { type: "delivery.failed", data: {} } });
	await api.attempted();
	const [a, b, c] = [one, other, third].map(idOf);
	const count = async (query: string) => (await list(project, query)).length;
	expect(await count("")).toBe(9);
	expect(await count(`webhook_id=${a}`)).toBe(4);
	expect(await count(`webhook_id=${a},${c}`)).toBe(5);
	expect(await count(`webhook_id=${a}&webhook_id=${b}&state=waiting`)).toBe(6);
	expect(await count("type=delivery.failed")).toBe(1);
	expect(await count("type=delivery.failed,delivery.success")).toBe(9);
	expect(await count("status_code=5xx")).toBe(4);
	expect(await count("status_code=404,503&state=waiting")).toBe(4);
	expect(await count("error=timeout")).toBe(0);
	expect(await count(`event_id=${events[1]}`)).toBe(2);
	expect(await count("since=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00Z")).toBe(0);
	expect(await count("webhook_id=wh_none")).toBe(0);
	for (const filter of ["", "state=waiting", `webhook_id=${a},${b},${c}`, "status_code=2xx,5xx"]) {
		const all = told(await list(project, filter));
		const seen: unknown[] = [];
		let cursor: string | null = "";
		do {
			const { json } = await api.call("GET", `${project}/deliveries?limit=2&${filter}${cursor && `&cursor=${cursor}`}`);
			seen.push(...told(json.data));
			cursor = json.next_cursor as unknown as string | null;
		} while (cursor !== null);
		expect(seen, filter).toEqual(all);
	}
});

test("an attempt that reached no receiver is found by its error", async () => {
	const project = await api.project();
	await api.webhook(project, { url: "https://localhost:1/" });
	await deliver(project, 200);
	expect(told(await list(project, "error=connection_refused"))).toHaveLength(1);
	expect(told(await list(project, "error=connection_refused,timeout&status_code=500"))).toHaveLength(1);
	expect(await list(project, "error=timeout")).toEqual([]);
	expect(told(await list(project, "status_code=none"))).toHaveLength(1);
});

test("a replay that waits for its first attempt has no response to be found by", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const [first, second] = [await deliver(project, 200), await deliver(project, 503)];
	await api.call("PATCH", webhook, { body: { status: "paused" } });
	expect((await api.call("POST", `${webhook}/deliveries/${first}/replay`)).status).toBe(202);
	expect(told(await list(project, "state=waiting"))).toEqual([
		[first, "waiting", 0, 1],
		[second, "waiting", 1, 0],
	]);
	expect(told(await list(project, "state=waiting&status_code=503"))).toEqual([[second, "waiting", 1, 0]]);
	for (const query of ["status_code=none", "status_code=2xx", "error=timeout"])
		expect(await list(project, `state=waiting&${query}`), query).toEqual([]);
});

test("tests are marked, and the deliveries of a deleted webhook end as failed", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	await api.call("POST", `${webhook}/test`, { body: { type: "delivery.success" } });
	await api.attempted();
	expect(await list(project)).toMatchObject([{ test: true, state: "delivered" }]);
	await deliver(project, 500);
	await api.call("DELETE", webhook);
	await api.attempted();
	expect(await list(project, "state=failed")).toMatchObject([{ test: false, last_attempt: { error_code: "deleted" } }]);
	expect(await list(project, "state=waiting")).toEqual([]);
});

test.each(["state=lost", "type=nope", "error=x y", "limit=0", "cursor=ZXZ0XzE", "unhandled=no"])(
	"refuses %s",
	async (query) => {
		const project = await api.project();
		expect((await api.call("GET", `${project}/deliveries?${query}`)).status).toBe(422);
	},
);

test("a filter by too many combinations is refused: it says to filter by fewer", async () => {
	const project = await api.project();
	const webhooks = Array.from({ length: 10 }, (_, i) => `wh_${i}`).join();
	const types = "delivery.failed,delivery.success";
	const query = `webhook_id=${webhooks}&type=${types}&state=waiting,failed`;
	const { status, json } = await api.call("GET", `${project}/deliveries?${query}`);
	expect([status, json.errors]).toEqual([
		...[422, [{ pointer: "?type", detail: expect.stringMatching(/^40 combinations .*at most 30.*by fewer/) }]],
	]);
	expect(await list(project, `webhook_id=${webhooks}&type=${types}`)).toEqual([]);
	// In a body, the fault is where the types are.
	const filter = {
		webhook_id: webhooks.split(","),
		type: [...types.split(","), "basket.abandoned", "purchase.completed"],
	};
	for (const action of ["replays", "dismissals"])
		expect(await api.call("POST", `${project}/${action}`, { body: { filter } }), action).toMatchObject({
			...{ status: 422, json: { errors: [{ pointer: "/filter/type" }] } },
		});
});

test("a selection is dismissed in short transactions; if one fails, those before it are audited", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const event_id = await deliver(project, 500);
	await api.call("POST", `${webhook}/deliveries/${event_id}/retry`);
	await api.attempted();
	const webhook_id = idOf(webhook);
	const absent = Array.from({ length: 60 }, (_, i) => ({ webhook_id, event_id: `evt_none${i}` }));
	const real = api.storage.dismissDeliveries.bind(api.storage);
	const spy = vi.spyOn(api.storage, "dismissDeliveries");
	spy.mockImplementationOnce(real).mockRejectedValueOnce(new Error("The database is down."));
	try {
		const body = { deliveries: [{ webhook_id, event_id }, ...absent] };
		expect((await api.call("POST", `${project}/dismissals`, { body })).status).toBe(500);
		expect(spy.mock.calls.map(([{ deliveries }]) => deliveries.length)).toEqual([50, 11]);
	} finally {
		spy.mockRestore();
	}
	const { json } = await api.call("GET", `${project}/audit`);
	expect(json.data[0]).toMatchObject({ action: "deliveries.dismissed", detail: { count: 1 } });
});
