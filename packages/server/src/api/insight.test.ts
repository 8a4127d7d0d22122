import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import type { Json } from "../../test/api/response.ts";
import { LOG_READS } from "../base/budgets.ts";
import { answered } from "../engine/send/receiver.fixture.ts";

let api: TestApi;
beforeAll(async () => {
	api = await TestApi.start({ maxWebhooksPerProject: 101 });
});
afterEach(() => {
	api.receiver.answer = answered(200);
});
afterAll(() => api.close());

const idOf = (path: string): string => path.split("/").at(-1)!;
const get = async (path: string): Promise<Json> => (await api.call("GET", path)).json;

/** Publishes an event for each status, one after the other, to a receiver that responds with it. */
async function deliver(project: string, ...statuses: number[]): Promise<string[]> {
	const events: string[] = [];
	for (const status of statuses) {
		api.receiver.answer = answered(status, "a response");
		events.push(await api.publish(project, { note: "findable" }));
		await api.attempted();
	}
	return events;
}

// Deleting a webhook lowered it, although no receiver had refused anything.
test("deliveries closed without a request don't lower the success rate", async () => {
	const retrying = await TestApi.start({ retryDelaysMs: [3_600_000] });
	try {
		const project = await retrying.project();
		const webhook = await retrying.webhook(project);
		await retrying.deliver(project, 200, 503);
		await retrying.call("DELETE", webhook);
		await retrying.attempted();
		const { json } = await retrying.call("GET", `${project}/stats`);
		expect(json.total).toMatchObject({ delivered: 1, retrying: 1, failed: 1, success_rate: 0.5 });
	} finally {
		await retrying.close();
	}
});

const BODIES = [
	...["request_headers", "request_body", "response_body", "response_truncated"],
	...["response_headers", "dns", "certificate"],
];

test("summaries say which attempts are followed by another one", async () => {
	const retrying = await TestApi.start({ retryDelaysMs: [0, 3_600_000] });
	try {
		const project = await retrying.project();
		await retrying.webhook(project);
		retrying.receiver.answer = answered(503, "a response");
		await retrying.publish(project);
		await retrying.attempted(2);
		const { json } = await retrying.call("GET", `${project}/attempts/summaries`);
		expect(json.data).toMatchObject([
			{ attempt: 2, status: "retrying", followed: false },
			{ attempt: 1, status: "retrying", followed: true },
		]);
	} finally {
		await retrying.close();
	}
});

test("summaries are attempts without headers and bodies, with the same filters and pages", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	await deliver(project, 200, 503, 200);
	const since = new Date().toISOString();
	for (const query of [
		"",
		"?status=failed",
		`?webhook_id=${idOf(webhook)}`,
		"?type=purchase.refunded",
		`?since=${since}`,
	]) {
		const full = (await get(`${project}/attempts${query}`)).data;
		const { data, next_cursor } = await get(`${project}/attempts/summaries${query}`);
		expect(data.map(({ order_id: _, followed: __, ...rest }) => rest)).toEqual(
			full.map((attempt) => Object.fromEntries(Object.entries(attempt).filter(([name]) => !BODIES.includes(name)))),
		);
		expect(next_cursor).toBeNull();
	}
	const { text } = await api.call("GET", `${project}/attempts/summaries`);
	expect(text).not.toMatch(/findable|a response/);

	const whole = (await get(`${project}/attempts/summaries`)).data.map(({ id }) => id);
	expect(whole).toHaveLength(3);
	const first = await get(`${project}/attempts/summaries?limit=2`);
	const rest = await get(`${project}/attempts/summaries?limit=2&cursor=${first.next_cursor}`);
	expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(whole);
	expect(rest.next_cursor).toBeNull();
	expect((await api.call("GET", `${project}/attempts/summaries?cursor=x`)).status).toBe(422);
});

test("filters the log by status code, class, or none", async () => {
	const project = await api.project();
	await api.webhook(project);
	await deliver(project, 200, 204, 404, 503, 500);
	await api.webhook(project, { url: "https://localhost:1/" });
	await deliver(project, 200);
	await api.attempted();
	for (const [query, codes] of [
		["status_code=503", [503]],
		["status_code=5xx", [500, 503]],
		["status_code=none", [null]],
		["status_code=2xx&status=delivered", [200, 204, 200]],
		["status_code=404,none&status_code=204", [null, 404, 204]],
		["status_code=503&status=delivered", []],
	] as const)
		for (const list of ["attempts", "attempts/summaries"]) {
			const found = (await get(`${project}/${list}?${query}`)).data.map(({ status_code }) => status_code);
			expect(found.toSorted(), `${list}?${query}`).toEqual(codes.toSorted());
		}
	const first = await get(`${project}/attempts?status_code=5xx&limit=1`);
	const rest = await get(`${project}/attempts?status_code=5xx&limit=1&cursor=${first.next_cursor}`);
	expect([...first.data, ...rest.data].map(({ status_code }) => status_code)).toEqual([500, 503]);
	expect(rest.next_cursor).toBeNull();
});

test("attempts are counted by the same filters", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const [event] = await deliver(project, 200, 503, 200);
	const until = new Date(0).toISOString();
	for (const [query, count] of [
		["", 3],
		["?status=delivered", 2],
		["?status=failed", 1],
		["?status=retrying", 0],
		[`?webhook_id=${idOf(webhook)}`, 3],
		["?webhook_id=wh_01kbjh6mrxe3q8z1v2t4w5y6a7", 0],
		[`?event_id=${event}`, 1],
		["?type=delivery.success&status=delivered", 2],
		[`?until=${until}`, 0],
		["?status_code=503", 1],
		["?status_code=2xx", 2],
		["?status_code=200,5xx", 3],
		["?status_code=200&status_code=503", 3],
		["?status_code=4xx&status_code=none", 0],
		["?status_code=5xx&status=delivered", 0],
	] as const)
		expect(await get(`${project}/attempts/count${query}`), query).toEqual({ count, capped: false });
	const codes = ["", "5", "5x", "0xx", "1000", "null", "500,,404", Array(21).fill("500").join(",")];
	const bad = codes.map((code) => `?status_code=${code}`);
	for (const query of ["?limit=1", "?cursor=x", "?status=lost", "?since=x", ...bad])
		expect((await api.call("GET", `${project}/attempts/count${query}`)).status, query).toBe(422);
});

test("counts up to ten thousand, and says if there are more", async () => {
	const project = await api.project();
	const fields = { url: "https://localhost:1/", max_in_flight: 10 };
	const webhooks = await Promise.all(Array.from({ length: 100 }, () => api.webhook(project, fields)));
	const events = Array.from({ length: 100 }, (_, n) => ({ type: "delivery.success", data: { n } }));
	await api.call("POST", `${project}/events`, { body: { events } });
	await api.attempted(10_000);
	const count = () => get(`${project}/attempts/count`);
	expect(await count()).toEqual({ count: 10_000, capped: false });
	await api.call("POST", `${webhooks[0]}/test`, { body: { type: "delivery.success" } });
	await api.attempted();
	expect(await count()).toEqual({ count: 10_000, capped: true });
	// A search for something that doesn't exist gets empty pages that say where to continue.
	expect(await get(`${project}/attempts/count?status_code=404`)).toEqual({ count: 0, capped: true });
	for (const list of ["attempts", "attempts/summaries"]) {
		let cursor: string | null = null;
		let pages = 0;
		do {
			const page: Json = await get(`${project}/${list}?status_code=404${cursor === null ? "" : `&cursor=${cursor}`}`);
			expect(page.data).toEqual([]);
			cursor = page.next_cursor;
			pages++;
		} while (cursor !== null);
		expect(pages).toBe(Math.ceil(10_001 / LOG_READS.attemptsScanned));
	}
	expect(await get(`${project}/attempts/count?webhook_id=${idOf(webhooks[0]!)}`)).toEqual({
		count: 101,
		capped: false,
	});
});

const RANGES = [
	["hour", 60, 60_000],
	["day", 24, 3_600_000],
	["month", 30, 86_400_000],
] as const;

test.each(RANGES)("reports the last %s in %i steps, including the current one", async (range, steps, stepMs) => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const other = await api.webhook(project, { events: ["purchase.refunded"] });
	await deliver(project, 200, 500, 200);
	// A test event doesn't count.
	await api.call("POST", `${other}/test`, { body: { type: "purchase.refunded" } });
	await api.attempted();

	const before = Date.now();
	const stats = await get(`${project}/stats?range=${range}`);
	const after = Date.now();
	expect(stats).toMatchObject({ range, step_ms: stepMs });
	const [since, until] = [Date.parse(stats.since), Date.parse(stats.until)];
	expect(until % stepMs).toBe(0);
	expect(until - since).toBe(steps * stepMs);
	expect(until).toBeGreaterThan(before);
	expect(until - stepMs).toBeLessThanOrEqual(after);
	expect(stats.buckets.map(({ at }) => Date.parse(at))).toEqual(
		Array.from({ length: steps }, (_, i) => since + i * stepMs),
	);

	expect(stats.total).toMatchObject({ events: 3, delivered: 2, retrying: 0, failed: 1, success_rate: 2 / 3 });
	const sum = (name: "delivered" | "retrying" | "failed", { buckets } = stats) =>
		buckets.reduce((all, bucket) => all + bucket[name], 0);
	expect([sum("delivered"), sum("retrying"), sum("failed")]).toEqual([2, 0, 1]);
	const logged = (await get(`${project}/attempts`)).data;
	const times = logged
		.filter(({ test }) => !test)
		.map(({ response_ms }) => response_ms)
		.toSorted((a, b) => a - b);
	const median = times[1]!;
	expect(Math.abs(Number(stats.total.p50_ms) - median)).toBeLessThanOrEqual(Math.max(1, median / 10));
	// It could be up to a tenth above.
	expect(Number(stats.total.p95_ms)).toBeLessThanOrEqual(Math.max(1, ...times));

	const one = await get(`${project}/stats?range=${range}&webhook_id=${idOf(webhook)}`);
	expect(one.total).toMatchObject({ events: 0, delivered: 2, retrying: 0, failed: 1, success_rate: 2 / 3 });
	expect(sum("delivered", one)).toBe(2);
});

test("attempts of test events are marked, and leave a webhook's health as it was", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const healthOf = async () => (await get(`${project}/webhooks/health`)).data[0];
	api.receiver.answer = answered(503);
	await api.call("POST", `${webhook}/test`, { body: { type: "delivery.success" } });
	await api.attempted();
	expect((await get(`${project}/attempts`)).data).toMatchObject([{ test: true, status: "failed" }]);
	expect((await get(`${project}/attempts/summaries`)).data).toMatchObject([{ test: true, status: "failed" }]);
	expect(await healthOf()).toMatchObject({ state: "idle", last_attempt: null, day: { delivered: 0, failed: 0 } });
	await deliver(project, 503);
	expect(await healthOf()).toMatchObject({ state: "failing", last_attempt: { test: false }, day: { failed: 1 } });
	api.receiver.answer = answered(200);
	await api.call("POST", `${webhook}/test`, { body: { type: "delivery.success" } });
	await api.attempted();
	const last = { state: "unstable", last_attempt: { test: false }, failed_in_a_row: 1 };
	expect(await healthOf()).toMatchObject({ ...last, last_delivered_at: expect.any(String), day: { delivered: 0 } });
});

// Incidents read those of all webhooks at once, so the reads of others waited for hundreds of queries.
test.each(["webhooks/health", "incidents"])("%s reads the statistics of few webhooks at a time", async (path) => {
	const project = await api.project();
	for (let i = 0; i < 2 * LOG_READS.statsPerStep + 1; i++) await api.webhook(project);
	const read = api.storage.readStats;
	let [reading, most, calls] = [0, 0, 0];
	const counted = vi.spyOn(api.storage, "readStats").mockImplementation(async (of) => {
		calls++;
		most = Math.max(most, ++reading);
		return read(of).finally(() => reading--);
	});
	expect((await api.call("GET", `${project}/${path}`)).status).toBe(200);
	counted.mockRestore();
	expect([calls, most]).toEqual([2 * LOG_READS.statsPerStep + 1, LOG_READS.statsPerStep]);
});

test("an outage is one incident, with what has become of its deliveries", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const list = async (query = "") => (await get(`${project}/incidents${query}`)).data;
	expect(await list()).toEqual([]);
	await deliver(project, 503, 503);
	expect(await list()).toEqual([]);
	await deliver(project, 503);
	expect(await list()).toEqual([
		{
			webhook_id: idOf(webhook),
			state: "ongoing",
			started_at: expect.stringMatching(/T\d\d:\d\d:00\.000Z$/),
			ended_at: null,
			failures_since: expect.stringMatching(/T\d\d:\d\d:00\.000Z$/),
			failures_until: null,
			failed_attempts: 3,
			delivered_attempts: 0,
			status_code: 503,
			error_code: null,
			deliveries: { count: 3, capped: false, delivered: 0, waiting: 0, failed: 3, dismissed: 0 },
			last_delivered_at: null,
			next_retry_at: null,
		},
	]);
	expect(await list(`?webhook_id=${idOf(webhook)}&limit=1`)).toHaveLength(1);
	// The bounds are what lists its failures.
	const [{ failures_since: since }] = (await list()) as unknown as [{ failures_since: string }];
	expect(await get(`${project}/attempts?since=${since}&status=failed`)).toMatchObject({ data: { length: 3 } });
	// Within the same minute. A test says nothing.
	await deliver(project, 200);
	expect(await list()).toMatchObject([{ state: "over", ended_at: expect.any(String), deliveries: { failed: 3 } }]);
	expect(await list("?webhook_id=wh_01kbjh6mrxe3q8z1v2t4w5y6a7")).toEqual([]);
	expect((await api.call("GET", `${project}/incidents?webhook_id=x`)).status).toBe(404);
	for (const limit of [0, 21]) expect((await api.call("GET", `${project}/incidents?limit=${limit}`)).status).toBe(422);
});

test("empty statistics are zeros and nulls, by default for the last day", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const nothing = { delivered: 0, retrying: 0, failed: 0, success_rate: null, p50_ms: null, p95_ms: null };
	for (const query of ["", `?webhook_id=${idOf(webhook)}`, "?webhook_id=wh_01kbjh6mrxe3q8z1v2t4w5y6a7"]) {
		const { range, total, buckets } = (await get(`${project}/stats${query}`)) as Json & { range: string };
		expect(range).toBe("day");
		expect(total).toEqual({ events: 0, ...nothing });
		expect(buckets).toHaveLength(24);
	}
	for (const [query, status] of [
		["?range=year", 422],
		["?range=", 422],
		["?webhook_id=x", 404],
		["?since=2026-01-01T00:00:00Z", 422],
	] as const)
		expect((await api.call("GET", `${project}/stats${query}`)).status, query).toBe(status);
});

test("another project's webhook has no statistics", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	await deliver(project, 200);
	const { total } = await get(`${await api.project()}/stats?webhook_id=${idOf(webhook)}`);
	expect(total).toMatchObject({ delivered: 0, success_rate: null });
});
