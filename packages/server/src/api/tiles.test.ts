import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { answered } from "../engine/send/receiver.fixture.ts";

/** A failed attempt is retried once, and not before someone asks for it. */
const DELAYS_MS = [3_600_000];

let api: TestApi;
beforeAll(async () => {
	api = await TestApi.start({ retryDelaysMs: DELAYS_MS });
});
afterEach(() => {
	api.receiver.answer = answered(200);
});
afterAll(() => api.close());

async function deliver(project: string, status: number): Promise<string> {
	api.receiver.answer = answered(status);
	const event = await api.publish(project);
	await api.attempted();
	return event;
}

async function fail(project: string, webhook: string): Promise<string> {
	const event = await deliver(project, 500);
	await api.call("POST", `${webhook}/deliveries/${event}/retry`);
	await api.attempted();
	return event;
}

async function sendTest(webhook: string, status: number): Promise<string> {
	api.receiver.answer = answered(status);
	const { json } = await api.call("POST", `${webhook}/test`, { body: { type: "delivery.success" } });
	await api.attempted();
	return json.event_id as unknown as string;
}

interface Health {
	readonly dead_letters: number;
	readonly waiting: { readonly count: number; readonly tests: number };
}

// The overview's tiles link to lists, which once had test events and deliveries of deleted webhooks in addition. A
// test's retry counted as a waiting delivery.
test("a tile's figure is the number of rows of the list that it links to", async () => {
	const project = await api.project();
	const deleted = await api.webhook(project);
	await deliver(project, 200);
	await fail(project, deleted);
	await api.call("DELETE", deleted);
	const webhook = await api.webhook(project);
	for (let n = 0; n < 3; n++) await deliver(project, 200);
	await sendTest(webhook, 200);
	await deliver(project, 500);
	const failedTest = await sendTest(webhook, 500);
	await api.call("POST", `${webhook}/deliveries/${failedTest}/retry`);
	await api.attempted();
	const waitingTest = await sendTest(webhook, 500);
	const [replayed, dismissed] = [await fail(project, webhook), await fail(project, webhook)];
	for (let n = 0; n < 2; n++) await fail(project, webhook);
	await api.call("POST", `${webhook}/deliveries/${dismissed}/dismiss`);
	api.receiver.answer = answered(200);
	await api.call("POST", `${webhook}/deliveries/${replayed}/replay`);
	await api.attempted();

	const { json: stats } = await api.call("GET", `${project}/stats`);
	const { json: health } = await api.call("GET", `${project}/webhooks/health`);
	const sum = (figure: (of: Health) => number) =>
		(health.data as unknown as Health[]).reduce((total, one) => total + figure(one), 0);
	const rows = async (query: string) => (await api.call("GET", `${project}/deliveries?limit=200&${query}`)).json.data;
	const { total, since } = stats as unknown as { total: { delivered: number }; since: string };
	const delivered = await rows(`state=delivered&test=false&since=${since}`);
	const waiting = await rows("state=waiting&test=false");
	const toDecide = await rows("state=failed&unhandled=true");
	expect([delivered.length, waiting.length, toDecide.length]).toEqual([
		total.delivered,
		sum((one) => one.waiting.count - one.waiting.tests),
		sum((one) => one.dead_letters),
	]);
	expect([delivered.length, waiting.length, toDecide.length]).toEqual([5, 1, 2]);
	expect(sum((one) => one.waiting.tests)).toBe(1);
	const gauges = await api.storage.gauges();
	expect([gauges.retriesWaiting, gauges.deadLetters]).toEqual([2, 2]);

	const events = (list: typeof delivered) => list.map(({ event_id }) => event_id);
	expect(events(await rows("state=delivered&test=true"))).toHaveLength(1);
	expect(events(await rows("state=waiting&test=true"))).toEqual([waitingTest]);
	expect(events(await rows("test=true&state=failed"))).toEqual([failedTest]);
	expect((await rows("state=failed")).length).toBe(6);
	const all = await rows("");
	const tests = await rows("test=true");
	expect([...(await rows("test=false")), ...tests]).toHaveLength(all.length);
	expect((await api.call("GET", `${project}/deliveries?test=no`)).status).toBe(422);
});

/** More deliveries than are listed from the queues. */
const MANY = { retries: 170, replays: 60 };

// The list once left out replays that no attempt was made of yet, so it was empty after a large bulk replay.
test("the figure of waiting deliveries is the number of rows of its list, however many wait", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	api.receiver.answer = answered(500);
	const publish = async (count: number) => {
		const events = Array.from({ length: count }, (_, n) => ({ type: "delivery.success", data: { n } }));
		expect((await api.call("POST", `${project}/events`, { body: { events } })).status).toBe(202);
		await api.attempted(count);
	};
	await publish(MANY.replays);
	expect((await api.call("POST", `${webhook}/retry`)).json.count).toBe(MANY.replays);
	await api.attempted(MANY.replays);
	await publish(MANY.retries);
	await api.call("PATCH", webhook, { body: { status: "paused" } });
	const filter = { status: "failed" };
	expect((await api.call("POST", `${project}/replays`, { body: { filter } })).json.count).toBe(MANY.replays);
	const { json: health } = await api.call("GET", `${project}/webhooks/health`);
	expect((health.data as unknown as Health[])[0]!.waiting.count).toBe(MANY.retries + MANY.replays);
	for (const [of, count] of [
		["", MANY.retries + MANY.replays],
		[`&webhook_id=${webhook.split("/").at(-1)}`, MANY.retries + MANY.replays],
		["&type=purchase.refunded", 0],
	] as const) {
		const seen: string[] = [];
		for (let cursor: string | null = ""; cursor !== null; ) {
			const query = `state=waiting&limit=50${of}${cursor === "" ? "" : `&cursor=${cursor}`}`;
			const { json } = await api.call("GET", `${project}/deliveries?${query}`);
			seen.push(...json.data.map(({ event_id }) => event_id as unknown as string));
			cursor = json.next_cursor as unknown as string | null;
		}
		expect([seen.length, new Set(seen).size]).toEqual([count, count]);
	}
});

// Bars of the charts lead to lists of attempts, which once had test events in addition.
test("attempts without tests are as many as the statistics count", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	await deliver(project, 200);
	await deliver(project, 500);
	await fail(project, webhook);
	await sendTest(webhook, 200);
	await sendTest(webhook, 500);
	const { json: stats } = await api.call("GET", `${project}/stats`);
	const { total, since } = stats as unknown as {
		total: Record<"delivered" | "retrying" | "failed", number>;
		since: string;
	};
	const sum = total.delivered + total.retrying + total.failed;
	const query = `test=false&since=${since}`;
	const count = async (of: string) => (await api.call("GET", `${project}/attempts/count?${of}`)).json.count;
	const rows = async (path: string, of = query) =>
		(await api.call("GET", `${project}/attempts${path}?limit=200&${of}`)).json.data;
	expect([sum, await count(query), await count(`since=${since}`)]).toEqual([4, 4, 6]);
	for (const path of ["", "/summaries"]) {
		expect((await rows(path)).map(({ test }) => test)).toEqual([false, false, false, false]);
		expect(await rows(path, `${query}&status_code=500`)).toHaveLength(3);
		expect(await rows(path, `${query}&status=delivered`)).toHaveLength(total.delivered);
	}
	expect(await count(`${query}&status_code=500`)).toBe(3);
	const { text } = await api.call("GET", `${project}/attempts/export.jsonl?${query}`);
	expect(text.trimEnd().split("\n")).toHaveLength(4);
	expect((await api.call("GET", `${project}/attempts/count?test=true`)).status).toBe(422);
});
