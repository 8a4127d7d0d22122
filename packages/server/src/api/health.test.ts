import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { answered } from "../engine/send/receiver.fixture.ts";

const HOUR_MS = 3_600_000;

let api: TestApi;
/** How far the API's clock is ahead. */
let aheadMs = 0;
beforeAll(async () => {
	api = await TestApi.start({
		parts: ({ clock }) => ({ clock: { ...clock, now: () => clock.now() + aheadMs } }),
	});
});
afterEach(() => {
	api.receiver.answer = answered(200);
});
afterAll(() => api.close());

const idOf = (path: string): string => path.split("/").at(-1)!;
const health = async (project: string, of = api) => (await of.call("GET", `${project}/webhooks/health`)).json.data;
const summaries = async (project: string, of = api) =>
	(await of.call("GET", `${project}/attempts/summaries`)).json.data
		.toReversed()
		.map(({ order_id: _, followed: __, ...attempt }) => attempt);

test("the hours can be left out, and the rest stays the same", async () => {
	const project = await api.project();
	await api.webhook(project);
	await api.publish(project);
	await api.attempted();
	const list = async (query: string) => (await api.call("GET", `${project}/webhooks/health${query}`)).json.data;
	const hours = { length: 24 };
	expect(await list("")).toMatchObject([{ day: { delivered: 1 }, hours }]);
	const [full] = await list("?hours=true");
	expect(full).toMatchObject({ day: { delivered: 1 }, hours });
	const recent = { since: expect.any(String), minutes: 15, delivered: 1, failed: 0 };
	expect(await list("?hours=false")).toEqual([{ ...full, recent, hours: [] }]);
	expect((await api.call("GET", `${project}/webhooks/health?hours=no`)).status).toBe(422);
});

test("the health of single webhooks is what the list says of them", async () => {
	const project = await api.project();
	const [first, second, third] = [await api.webhook(project), await api.webhook(project), await api.webhook(project)];
	await api.publish(project);
	for (const _ of [first, second, third]) await api.attempted();
	const list = async (query: string) => (await api.call("GET", `${project}/webhooks/health${query}`)).json.data;
	const all = (await list("")).map(({ recent: _, ...health }) => expect.objectContaining(health));
	expect(all).toHaveLength(3);
	expect(await list(`?webhook_id=${idOf(third)}`)).toEqual([all[2]]);
	expect(await list(`?webhook_id=${idOf(second)},${idOf(first)}&webhook_id=${idOf(first)}`)).toEqual(all.slice(0, 2));
	expect(await list(`?webhook_id=${idOf(second)}&hours=false`)).toMatchObject([
		{ webhook_id: idOf(second), hours: [] },
	]);
	const elsewhere = await api.webhook(await api.project());
	expect(await list(`?webhook_id=${idOf(elsewhere)},wh_none`)).toEqual([]);
	const tooMany = Array.from({ length: 101 }, (_, n) => `wh_${n}`).join();
	expect((await api.call("GET", `${project}/webhooks/health?webhook_id=${tooMany}`)).status).toBe(422);
});

test("a webhook is idle until its first attempt", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project, { events: ["purchase.refunded"] });
	await api.publish(project);
	const [idle, ...others] = await health(project);
	expect(others).toEqual([]);
	expect(idle).toMatchObject({
		webhook_id: idOf(webhook),
		state: "idle",
		last_attempt: null,
		failing_since: null,
		failed_in_a_row: 0,
		down: false,
		recent: { delivered: 0, failed: 0 },
		last_delivered_at: null,
		waiting: { count: 0, tests: 0, next_at: null },
		dead_letters: 0,
		backlog: { events: 0, oldest_seq: null, oldest_at: null },
		day: { delivered: 0, retrying: 0, failed: 0, success_rate: null, p95_ms: null },
	});
});

// "Never" and "longer ago than the log is kept" were the same.
test("says since when the log has all attempts: a webhook's creation, or as long ago as it is kept", async () => {
	let aheadMs = 0;
	const later = await TestApi.start({
		parts: ({ clock }) => ({ clock: { ...clock, now: () => clock.now() + aheadMs } }),
	});
	const project = await later.project();
	const { created_at } = (await later.call("GET", await later.webhook(project))).json;
	const since = async () => (await health(project, later))[0]!.logged_since;
	expect(await since()).toBe(created_at);
	const { logRetentionMs } = later.parts.config;
	aheadMs = logRetentionMs - 7_200_000;
	expect(await since()).toBe(created_at);
	aheadMs = logRetentionMs + 7_200_000;
	const hours = (Date.parse(await since()) - Date.parse(created_at)) / 3_600_000;
	expect(hours).toBeGreaterThanOrEqual(2);
	expect(hours).toBeLessThan(3.1);
	expect(await since()).toMatch(/:00:00\.000Z$/);
	await later.close();
});

test("a webhook that fails from the start is failing; then it is judged over a window", async () => {
	const project = await api.project();
	await api.webhook(project);
	await api.deliver(project, 500);
	expect((await health(project))[0]).toMatchObject({ state: "failing", failed_in_a_row: 1, down: true });
	await api.deliver(project, 200);
	const [, delivered] = await summaries(project);
	expect(await health(project)).toEqual([
		expect.objectContaining({
			state: "healthy",
			failed_in_a_row: 0,
			down: false,
			recent: expect.objectContaining({ delivered: 1, failed: 1 }),
			last_attempt: delivered,
			failing_since: null,
			last_delivered_at: delivered!.started_at,
			dead_letters: 1,
		}),
	]);
	await api.deliver(project, 500, 503);
	const [, , first, last] = await summaries(project);
	expect((await health(project))[0]).toMatchObject({
		state: "unstable",
		failed_in_a_row: 2,
		down: false,
		recent: { minutes: 15, delivered: 1, failed: 3 },
		last_attempt: last,
		failing_since: first,
		last_delivered_at: delivered!.started_at,
		dead_letters: 3,
		day: { delivered: 1, retrying: 0, failed: 3, success_rate: 0.25, p95_ms: expect.any(Number) },
	});
	await api.deliver(project, 500);
	aheadMs = 60_000;
	expect((await health(project))[0]).toMatchObject({ state: "failing", failed_in_a_row: 3, down: true });
	aheadMs = 0;
	await api.deliver(project, 200);
	expect((await health(project))[0]).toMatchObject({ state: "unstable", failing_since: null, dead_letters: 4 });
});

test("neither tests nor closed deliveries change the health", async () => {
	const patient = await TestApi.start({ retryDelaysMs: [HOUR_MS, HOUR_MS] });
	const project = await patient.project();
	const webhook = await patient.webhook(project);
	await patient.publish(project);
	await patient.attempted();
	const before = (await health(project, patient))[0]!;
	expect(before).toMatchObject({ state: "healthy", recent: { delivered: 1, failed: 0 } });
	patient.receiver.answer = answered(500);
	for (let i = 0; i < 3; i++) {
		await patient.call("POST", `${webhook}/test`, { body: { type: "delivery.success" } });
		await patient.attempted();
	}
	const unchanged = { state: "healthy", recent: before.recent, last_attempt: before.last_attempt, failed_in_a_row: 0 };
	expect((await health(project, patient))[0]).toMatchObject(unchanged);
	// A paused webhook's backlog is closed as skipped when it is resumed from now.
	await patient.call("PATCH", webhook, { body: { status: "paused" } });
	for (let i = 0; i < 5; i++) await patient.publish(project);
	await patient.call("PATCH", webhook, { body: { status: "active", from: "now" } });
	expect((await health(project, patient))[0]).toMatchObject(unchanged);
	await patient.close();
});

test("reports the day by hour, including the current one", async () => {
	const project = await api.project();
	await api.webhook(project);
	await api.deliver(project, 200, 500);
	const before = Date.now();
	const [{ hours }] = (await health(project)) as unknown as [{ hours: Record<"at" | "delivered" | "failed", never>[] }];
	const after = Date.now();
	const times = hours.map(({ at }) => Date.parse(at));
	expect(times).toEqual(Array.from({ length: 24 }, (_, i) => times[0]! + i * HOUR_MS));
	expect(times[23]).toBeLessThanOrEqual(after);
	expect(times[23]! + HOUR_MS).toBeGreaterThan(before);
	const sum = (name: "delivered" | "failed") => hours.reduce((all, hour) => all + hour[name], 0);
	expect([sum("delivered"), sum("failed")]).toEqual([1, 1]);
});

test("a paused webhook is paused regardless of its history, and reports its backlog", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	await api.deliver(project, 500);
	await api.call("PATCH", webhook, { body: { status: "paused" } });
	const event = await api.publish(project);
	await api.publish(project);
	const { created_at } = (await api.call("GET", `${project}/events/${event}`)).json;
	expect((await health(project))[0]).toMatchObject({
		state: "paused",
		failing_since: { status: "failed" },
		backlog: { events: 2, oldest_seq: 2, oldest_at: created_at },
	});
});

test("lists every webhook of the project, oldest first, without deleted ones", async () => {
	const project = await api.project();
	await api.webhook(await api.project());
	const webhooks = [];
	for (let i = 0; i < 3; i++) webhooks.push(await api.webhook(project));
	await api.call("DELETE", webhooks[1]!);
	const ids = (await health(project)).map(({ webhook_id }) => webhook_id);
	expect(ids).toEqual([webhooks[0], webhooks[2]].map((path) => idOf(path!)));
});

test("replaying a dead letter removes it from the count", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const [event] = await api.deliver(project, 500, 500);
	api.receiver.answer = answered(200);
	await api.call("POST", `${webhook}/deliveries/${event}/replay`);
	await api.attempted();
	expect((await health(project))[0]).toMatchObject({ state: "unstable", dead_letters: 1 });
});

test("lists pending attempts with their times, soonest first", async () => {
	const patient = await TestApi.start({ retryDelaysMs: [HOUR_MS, HOUR_MS] });
	const project = await patient.project();
	const webhook = await patient.webhook(project);
	const other = await patient.webhook(project, { events: ["purchase.refunded"] });
	patient.receiver.answer = answered(500);
	const events = [];
	for (let i = 1; i <= 3; i++) {
		events.push(await patient.publish(project, i === 2 ? { order_id: "ord_1042" } : { n: i }));
		await patient.attempted();
	}
	// Its order is only a sample.
	await patient.call("POST", `${other}/test`, { body: { type: "purchase.refunded" } });
	await patient.attempted();
	const waiting = async (query = "") => (await patient.call("GET", `${project}/waiting${query}`)).json.data;

	const logged = await summaries(project, patient);
	const due = (logged as unknown as { next_retry_at: string }[]).map(({ next_retry_at }) => next_retry_at);
	expect(await waiting()).toEqual(
		logged.map(({ webhook_id, event_id }, i) => ({
			webhook_id,
			event_id,
			event_type: i < 3 ? "delivery.success" : "purchase.refunded",
			order_id: i === 1 ? "ord_1042" : null,
			queue: "retry",
			attempt: 2,
			replay: 0,
			test: i === 3,
			due_at: due[i],
		})),
	);
	expect(due).toEqual(due.toSorted());
	expect((await waiting("?limit=2")).map(({ event_id }) => event_id)).toEqual(events.slice(0, 2));
	expect((await waiting(`?webhook_id=${idOf(webhook)}`)).map(({ event_id }) => event_id)).toEqual(events);
	expect(await waiting("?webhook_id=wh_01kbjh6mrxe3q8z1v2t4w5y6a7")).toEqual([]);
	expect((await patient.call("GET", `${project}/waiting?webhook_id=x`)).status).toBe(404);
	expect((await patient.call("GET", `${project}/waiting?limit=0`)).status).toBe(422);
	expect((await patient.call("GET", `${await patient.project()}/waiting`)).json.data).toEqual([]);
	expect(await health(project, patient)).toMatchObject([
		{ state: "failing", waiting: { count: 3, tests: 0, next_at: due[0] }, dead_letters: 0, day: { retrying: 3 } },
		// Its only attempt is of a test event.
		{ state: "idle", waiting: { count: 1, tests: 1, next_at: due[3] } },
	]);

	// Nor are a paused webhook's replays: nothing is sent meanwhile.
	patient.receiver.answer = answered(200);
	const replayable = await patient.publish(project);
	await patient.attempted();
	await patient.call("PATCH", webhook, { body: { status: "paused" } });
	expect((await patient.call("POST", `${webhook}/deliveries/${replayable}/replay`)).status).toBe(202);
	expect((await waiting())[0]).toMatchObject({ event_id: replayable, queue: "requested", attempt: 1, replay: 1 });
	await patient.close();
});

// With thousands of webhooks, others' reads waited for all of them.
test("the health of many webhooks is read a few at a time", async () => {
	let reading = 0;
	let most = 0;
	const large = await TestApi.start({
		parts: ({ storage }) => ({
			storage: new Proxy(storage, {
				get(target, name) {
					const member: unknown = Reflect.get(target, name);
					if (typeof member !== "function") return member;
					if (name !== "readStats") return member.bind(target);
					return async (p: unknown) => {
						most = Math.max(most, ++reading);
						const stats: unknown = await member.call(target, p);
						reading--;
						return stats;
					};
				},
			}),
		}),
	});
	const project = await large.project();
	const webhooks: string[] = [];
	for (let n = 0; n < 30; n++) webhooks.push(idOf(await large.webhook(project)));
	const found = await health(project, large);
	expect(found.map(({ webhook_id }) => webhook_id)).toEqual(webhooks);
	expect(most).toBe(8);
	await large.close();
});
