import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { answered } from "../engine/send/receiver.fixture.ts";

/** So long that no retry is made unless someone asks for it. */
const DELAYS_MS = [3_600_000, 3_600_000];

let api: TestApi;
beforeAll(async () => {
	api = await TestApi.start({ retryDelaysMs: DELAYS_MS });
});
afterEach(() => {
	api.receiver.answer = answered(200);
});
afterAll(() => api.close());

const idOf = (path: string): string => path.split("/").at(-1)!;

/** Publishes events whose first attempt fails. */
async function failing(project: string, count: number): Promise<string[]> {
	api.receiver.answer = answered(500);
	const events: string[] = [];
	for (let i = 0; i < count; i++) events.push(await api.publish(project));
	await api.attempted(count);
	return events;
}

test("a retry made early continues the series, which has no more attempts than otherwise", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const [event] = await failing(project, 1);
	const path = `${webhook}/deliveries/${event}`;
	for (const attempt of [2, 3]) {
		const { status, json } = await api.call("POST", `${path}/retry`);
		expect([status, json]).toEqual([202, { state: "attempting", attempt, replay: 0 }]);
		await api.attempted();
	}
	const { json } = await api.call("GET", path);
	expect(json).toMatchObject({ state: "dead_lettered", attempt: 3, replay: 0 });
	expect(json.attempts).toMatchObject([{ attempt: 1 }, { attempt: 2 }, { attempt: 3 }]);
	const { status, json: problem } = await api.call("POST", `${path}/retry`);
	expect(status).toBe(409);
	expect(problem.detail).toMatch(/Replay it/);
});

test("without a delivery there is nothing to retry; a delivered one isn't sent again", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const event = await api.publish(project);
	await api.attempted();
	expect((await api.call("POST", `${webhook}/deliveries/${event}/retry`)).status).toBe(409);
	expect((await api.call("POST", `${webhook}/deliveries/evt_none/retry`)).status).toBe(404);
	const absent = `${project}/webhooks/wh_01kbjh6mrxe3q8z1v2t4w5y6a7`;
	expect((await api.call("POST", `${absent}/deliveries/${event}/retry`)).status).toBe(404);
	expect((await api.call("POST", `${absent}/retry`)).status).toBe(404);
	expect((await api.call("POST", `${webhook}/retry`)).json).toEqual({ count: 0 });
});

test("everything that waits for a webhook is retried, and no other webhook's deliveries", async () => {
	const project = await api.project();
	const [webhook, other] = [await api.webhook(project), await api.webhook(project)];
	api.receiver.answer = answered(500);
	const events = [await api.publish(project), await api.publish(project), await api.publish(project)];
	await api.attempted(6);
	api.receiver.answer = answered(200);
	expect(await api.call("POST", `${webhook}/retry`)).toMatchObject({ status: 202, json: { count: 3 } });
	await api.attempted(3);
	for (const event of events) {
		expect((await api.call("GET", `${webhook}/deliveries/${event}`)).json).toMatchObject({
			...{ state: "delivered", attempt: 2 },
		});
		expect((await api.call("GET", `${other}/deliveries/${event}`)).json).toMatchObject({
			...{ state: "attempting", attempt: 2 },
		});
	}
});

test("a selection is retried; those for which nothing waits are skipped and counted", async () => {
	const project = await api.project();
	const webhook_id = idOf(await api.webhook(project));
	const events = await failing(project, 3);
	api.receiver.answer = answered(200);
	const deliveries = [...events.slice(0, 2), "evt_none"].map((event_id) => ({ webhook_id, event_id }));
	const { status, json } = await api.call("POST", `${project}/retries`, { body: { deliveries } });
	expect([status, json]).toEqual([202, { count: 2, skipped: 1 }]);
	await api.attempted(2);
	const left = (await api.call("GET", `${project}/waiting`)).json.data;
	expect(left.map(({ event_id }) => event_id)).toEqual([events[2]]);
});

test("a test event that waits for a retry is cancelled, and needs no decision", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	api.receiver.answer = answered(500);
	const { json } = await api.call("POST", `${webhook}/test`, { body: { type: "delivery.success" } });
	const path = `${webhook}/deliveries/${json.event_id}`;
	await api.attempted();
	expect(await api.call("POST", `${path}/cancel`)).toMatchObject({ status: 202, json: { cancelled: true } });
	await api.attempted();
	const delivery = (await api.call("GET", path)).json;
	expect(delivery).toMatchObject({ state: "dead_lettered", attempt: 2, next_retry_at: null });
	expect(delivery.attempts[1]).toMatchObject({ status: "failed", error_code: "test_cancelled", request_headers: {} });
	const again = await api.call("POST", `${path}/cancel`);
	expect([again.status, again.json.detail]).toEqual([409, expect.stringMatching(/has ended/)]);
	const health = (await api.call("GET", `${project}/webhooks/health`)).json.data;
	expect(health).toMatchObject([{ dead_letters: 0, waiting: { count: 0 } }]);
	const undecided = await api.call("GET", `${project}/deliveries?state=failed&unhandled=true`);
	expect(undecided.json.data).toEqual([]);
	expect((await api.call("GET", `${project}/audit`)).json.data[0]).toMatchObject({
		...{ action: "test.cancelled", target: { id: json.event_id }, detail: { webhook_id: idOf(webhook) } },
	});
});

test("only test events can be cancelled", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const [event] = await failing(project, 1);
	const { status, json } = await api.call("POST", `${webhook}/deliveries/${event}/cancel`);
	expect([status, json.detail]).toEqual([409, expect.stringMatching(/Only test events/)]);
	expect((await api.call("POST", `${webhook}/deliveries/evt_none/cancel`)).status).toBe(404);
	expect((await api.call("GET", `${webhook}/deliveries/${event}`)).json.state).toBe("attempting");
});

test("the audit log records who retried what", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const [event] = await failing(project, 2);
	await api.call("POST", `${webhook}/deliveries/${event}/retry`);
	await api.attempted();
	await api.call("POST", `${webhook}/retry`);
	await api.attempted(2);
	const { json } = await api.call("GET", `${project}/audit`);
	expect(json.data.slice(0, 2)).toMatchObject([
		{ action: "deliveries.retried", target: { kind: "webhook", id: idOf(webhook) }, detail: { count: 2 } },
		{ action: "delivery.retried", target: { kind: "event", id: event }, detail: { webhook_id: idOf(webhook) } },
	]);
});

const told = async (project: string): Promise<unknown> =>
	(await api.call("GET", `${project}/audit`)).json.data.find(({ action }) => action === "deliveries.retried");

test("a selection is retried in a few transactions; if one fails, those before it are sent and audited", async () => {
	const project = await api.project();
	const webhook_id = idOf(await api.webhook(project));
	const [event_id] = await failing(project, 1);
	api.receiver.answer = answered(200);
	const absent = Array.from({ length: 60 }, (_, i) => ({ webhook_id, event_id: `evt_none${i}` }));
	const real = api.storage.retryDeliveries.bind(api.storage);
	const spy = vi.spyOn(api.storage, "retryDeliveries");
	spy.mockImplementationOnce(real).mockRejectedValueOnce(new Error("The database is down."));
	try {
		const body = { deliveries: [{ webhook_id, event_id }, ...absent] };
		expect((await api.call("POST", `${project}/retries`, { body })).status).toBe(500);
		expect(spy.mock.calls.map(([{ deliveries }]) => deliveries.length)).toEqual([50, 11]);
	} finally {
		spy.mockRestore();
	}
	await api.attempted();
	expect(await told(project)).toMatchObject({
		target: { id: webhook_id },
		detail: { deliveries: [{ webhook_id, event_id }], count: 1 },
	});
});

// Those that fail again meanwhile wait after the others, and would be retried until they are dead letters.
test("a bulk retry takes no more than waited at first", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	await failing(project, 2);
	const real = api.storage.retryWaiting.bind(api.storage);
	const spy = vi.spyOn(api.storage, "retryWaiting");
	const limits: number[] = [];
	spy.mockImplementation((p) => {
		limits.push(p.limit);
		return real({ ...p, limit: 1 });
	});
	try {
		expect((await api.call("POST", `${webhook}/retry`)).json).toEqual({ count: 2 });
	} finally {
		spy.mockRestore();
	}
	expect(limits).toEqual([2, 1]);
	await api.attempted(2);
});

test("audits a bulk retry even if a later step fails", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	await failing(project, 2);
	const real = api.storage.retryWaiting.bind(api.storage);
	const spy = vi.spyOn(api.storage, "retryWaiting");
	spy.mockImplementationOnce((p) => real({ ...p, limit: 1 })).mockRejectedValueOnce(new Error("The database is down."));
	try {
		expect((await api.call("POST", `${webhook}/retry`)).status).toBe(500);
	} finally {
		spy.mockRestore();
	}
	await api.attempted();
	expect(await told(project)).toMatchObject({ target: { id: idOf(webhook) }, detail: { count: 1 } });
});
