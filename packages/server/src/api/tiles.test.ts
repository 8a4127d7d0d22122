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
	readonly waiting: { readonly count: number };
}

// The overview's tiles link to lists, which once had test events and deliveries of deleted webhooks in addition.
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
	const waiting = await rows("state=waiting");
	const toDecide = await rows("state=failed&unhandled=true");
	expect([delivered.length, waiting.length, toDecide.length]).toEqual([
		total.delivered,
		sum((one) => one.waiting.count),
		sum((one) => one.dead_letters),
	]);
	expect([delivered.length, waiting.length, toDecide.length]).toEqual([5, 2, 2]);
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
