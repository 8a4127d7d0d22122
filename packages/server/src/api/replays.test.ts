import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import { IdSource } from "../base/ids.ts";
import { type Answer, answered } from "../engine/send/receiver.fixture.ts";

let api: TestApi;
beforeAll(async () => {
	api = await TestApi.start();
});
afterEach(() => {
	api.receiver.answer = answered(200);
});
afterAll(() => api.close());

const idOf = (path: string): string => path.split("/").at(-1)!;

async function deliver(project: string, ...statuses: number[]): Promise<string[]> {
	const events = await api.deliver(project, ...statuses);
	api.receiver.answer = answered(200);
	return events;
}

async function replay(project: string, body: object) {
	const { status, json } = await api.call("POST", `${project}/replays`, { body });
	expect(status).toBe(202);
	return json;
}

/** The ids of the events of the last requests. */
const lastSent = (count: number) =>
	api.receiver.requests.slice(-count).map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id);

test("replays the given deliveries, including delivered ones, and skips those in flight or missing", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const webhook_id = idOf(webhook);
	const events = await deliver(project, 200, 500);
	const held = new Promise<() => void>((resolve) => {
		api.receiver.answer = (socket, request): void => resolve(() => (answered(200) as Answer)(socket, request));
	});
	const underWay = await api.publish(project);
	const finish = await held;
	api.receiver.answer = answered(200);
	const deliveries = [
		...[...events, events[0], underWay, "evt_none"].map((event_id) => ({ webhook_id, event_id })),
		{ webhook_id: "wh_01kbjh6mrxe3q8z1v2t4w5y6a7", event_id: events[0] },
	];
	expect(await replay(project, { deliveries })).toEqual({ count: 2, skipped: 4 });
	finish();
	await api.attempted(3);
	for (const event of events) {
		const { json } = await api.call("GET", `${webhook}/deliveries/${event}`);
		expect(json).toMatchObject({ state: "delivered", replay: 1 });
	}
	await api.call("DELETE", webhook);
	expect(await replay(project, { deliveries: deliveries.slice(0, 2) })).toEqual({ count: 0, skipped: 2 });
});

test("a selection is replayed one after the other; if one fails, those before it are sent, audited and named", async () => {
	const project = await api.project();
	const webhook_id = idOf(await api.webhook(project));
	const events = await deliver(project, 500, 500, 500);
	const real = api.storage.replayDelivery.bind(api.storage);
	const spy = vi.spyOn(api.storage, "replayDelivery");
	let running = 0;
	spy
		.mockImplementation(async (p) => {
			expect(++running).toBe(1);
			return real(p).finally(() => running--);
		})
		.mockImplementationOnce(real)
		.mockRejectedValueOnce(new Error("The database is down."));
	try {
		const deliveries = [...events, "evt_none"].map((event_id) => ({ webhook_id, event_id }));
		expect(await replay(project, { deliveries })).toEqual({ count: 1, skipped: 0, left: 3 });
		await api.attempted();
		expect(lastSent(1)).toEqual([events[0]]);
		const [entry] = (await api.call("GET", `${project}/audit`)).json.data;
		expect(entry).toMatchObject({ action: "deliveries.replayed", detail: { count: 1 } });
		expect(await replay(project, { deliveries: deliveries.slice(-3) })).toEqual({ count: 2, skipped: 1 });
		await api.attempted(2);
		spy.mockRejectedValueOnce(new Error("The database is down."));
		expect((await api.call("POST", `${project}/replays`, { body: { deliveries } })).status).toBe(500);
	} finally {
		spy.mockRestore();
	}
});

test("counting says what would be sent: by webhook and type, and from when", async () => {
	const project = await api.project();
	const [first, second] = [await api.webhook(project), await api.webhook(project)];
	const before = Date.now();
	api.receiver.answer = answered(500);
	await api.publish(project);
	await api.attempted(2);
	await api.call("POST", `${first}/test`, { body: { type: "delivery.success" } });
	await api.attempted();
	const counted = await replay(project, { filter: { status: "failed" }, dry_run: true });
	const group = { type: "delivery.success", count: 1 };
	expect(counted.count).toBe(2);
	expect(new Set(counted.groups)).toEqual(
		new Set([first, second].map((webhook) => ({ webhook_id: idOf(webhook), ...group }))),
	);
	expect(Date.parse(counted.oldest_at)).toBeGreaterThanOrEqual(before);
	expect(Date.parse(counted.newest_at)).toBeGreaterThanOrEqual(Date.parse(counted.oldest_at));
	expect(await replay(project, { filter: { type: "purchase.refunded" }, dry_run: true })).toMatchObject({
		...{ count: 0, groups: [], oldest_at: null, newest_at: null },
	});
});

test("another project's deliveries aren't found", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const [event_id] = await deliver(project, 500);
	const other = await api.project();
	const deliveries = [{ webhook_id: idOf(webhook), event_id }];
	expect(await replay(other, { deliveries })).toEqual({ count: 0, skipped: 1 });
	expect(await replay(other, { filter: { webhook_id: idOf(webhook) } })).toMatchObject({ count: 0, next_cursor: null });
});

test("a filter matches the newest attempt, as in the list of attempts", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const events = await deliver(project, 500, 200, 500);
	const count = async (filter: object) => (await replay(project, { filter, dry_run: true })).count;
	const start = new Date(Date.now() + 1_000).toISOString();
	expect(await count({})).toBe(3);
	expect(await count({ status: "failed" })).toBe(2);
	expect(await count({ status: "delivered", webhook_id: idOf(webhook) })).toBe(1);
	expect(await count({ event_id: events[0] })).toBe(1);
	expect(await count({ type: "purchase.refunded" })).toBe(0);
	expect(await count({ status_code: ["5xx"] })).toBe(2);
	expect(await count({ status_code: ["200", "404"] })).toBe(1);
	expect(await count({ status_code: ["none"] })).toBe(0);
	expect(await count({ since: start })).toBe(0);
	expect(await count({ until: "2020-01-01T00:00:00Z" })).toBe(0);

	const done = await replay(project, { filter: { status: "failed" } });
	expect(done).toEqual({ count: 2, next_cursor: null, before: expect.stringMatching(/Z$/) });
	await api.attempted(2);
	expect(lastSent(2)).toEqual([events[0], events[2]]);
	expect(await count({ status: "failed" })).toBe(0);
	expect(await count({})).toBe(3);
});

test("a dry run replays nothing", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project);
	const [event] = await deliver(project, 500);
	expect(await replay(project, { filter: {}, dry_run: true })).toMatchObject({ count: 1 });
	expect((await api.call("GET", `${webhook}/deliveries/${event}`)).json).toMatchObject({
		state: "dead_lettered",
		replay: 0,
	});
	expect(await replay(project, { filter: {}, dry_run: false })).toMatchObject({ count: 1 });
	await api.attempted();
});

test("replays many deliveries in steps, each once, and skips new failures", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project, { url: "https://localhost:1/", max_in_flight: 10 });
	const total = 1_150;
	for (const length of [1_000, 150]) {
		const events = Array.from({ length }, (_, n) => ({ type: "delivery.success", data: { n } }));
		await api.call("POST", `${project}/events`, { body: { events } });
	}
	await api.attempted(total);
	const steps = async (dry_run: boolean) => {
		const counts: number[] = [];
		let next: { cursor?: string; before?: string } = {};
		do {
			const { count, next_cursor, before } = await replay(project, { filter: { status: "failed" }, dry_run, ...next });
			if (!dry_run) await api.attempted(count);
			counts.push(count);
			if (next.before !== undefined) expect(before).toBe(next.before);
			next = next_cursor === null ? {} : { cursor: next_cursor, before };
		} while (next.cursor !== undefined);
		return counts;
	};
	expect(await steps(true)).toEqual([1_000, 150]);
	expect(await steps(false)).toEqual([1_000, 150]);
	const counted = (status: string) => api.call("GET", `${project}/attempts/count?status=${status}`);
	expect((await counted("failed")).json).toEqual({ count: 2 * total, capped: false });
	expect((await api.call("GET", `${project}/webhooks/health`)).json.data).toMatchObject([
		{ webhook_id: idOf(webhook), dead_letters: total, waiting: { count: 0 } },
	]);
});

test("if a later transaction of a replay by filter fails, those before it are sent, and the next call continues after them", async () => {
	const project = await api.project();
	await api.webhook(project, { url: "https://localhost:1/", max_in_flight: 10 });
	const total = 260;
	const events = Array.from({ length: total }, (_, n) => ({ type: "delivery.success", data: { n } }));
	await api.call("POST", `${project}/events`, { body: { events } });
	await api.attempted(total);
	const real = api.storage.replayMatching.bind(api.storage);
	const spy = vi.spyOn(api.storage, "replayMatching");
	try {
		spy.mockRejectedValueOnce(new Error("The database is down."));
		const body = { filter: { status: "failed" } };
		expect((await api.call("POST", `${project}/replays`, { body })).status).toBe(500);
		spy.mockImplementationOnce(real).mockRejectedValueOnce(new Error("The database is down."));
		const { count, next_cursor: cursor, before } = await replay(project, body);
		await api.attempted(count);
		expect(count).toBeLessThan(total);
		const rest = await replay(project, { ...body, cursor, before });
		await api.attempted(rest.count);
		expect(count + rest.count).toBe(total);
		expect(rest.next_cursor).toBeNull();
		const { data } = (await api.call("GET", `${project}/audit`)).json;
		expect(data.slice(0, 2)).toMatchObject([{ detail: { count: rest.count } }, { detail: { count } }]);
	} finally {
		spy.mockRestore();
	}
});

test("a step of a replay by filter that was stored is sent, even if its answer was lost and none before it found any", async () => {
	const project = await api.project();
	await api.webhook(project);
	await deliver(project, 500);
	const real = api.storage.replayMatching.bind(api.storage);
	const spy = vi.spyOn(api.storage, "replayMatching");
	try {
		const next = new IdSource({ now: () => 0 }).next("attempt");
		spy.mockResolvedValueOnce({ count: 0, next }).mockImplementationOnce(async (p) => {
			await real(p);
			throw new Error("The connection was lost.");
		});
		expect(await replay(project, { filter: { status: "failed" } })).toMatchObject({ count: 0 });
		await api.attempted(1);
	} finally {
		spy.mockRestore();
	}
});

test("if replaying all failed deliveries of a webhook fails half way, the audit log has those that are replayed", async () => {
	const project = await api.project();
	const webhook = await api.webhook(project, { max_in_flight: 10 });
	await deliver(project, ...Array(3).fill(500));
	const real = api.storage.replayMatching.bind(api.storage);
	const spy = vi.spyOn(api.storage, "replayMatching");
	try {
		spy
			.mockImplementationOnce((p) => real({ ...p, limit: 2 }))
			.mockRejectedValueOnce(new Error("The database is down."));
		const failed = await api.call("POST", `${webhook}/replay`, { body: { status: "failed" } });
		expect(failed.status).toBe(500);
		await api.attempted(2);
		const [entry] = (await api.call("GET", `${project}/audit`)).json.data;
		expect(entry).toMatchObject({ action: "deliveries.replayed", detail: { count: 2 } });
	} finally {
		spy.mockRestore();
	}
});

test.each([
	[{}, ""],
	[{ deliveries: [{ webhook_id: "wh_01kbjh6mrxe3q8z1v2t4w5y6a7", event_id: "evt_1" }], filter: {} }, ""],
	[{ deliveries: [] }, "/deliveries"],
	[{ deliveries: [{ webhook_id: "wh_01kbjh6mrxe3q8z1v2t4w5y6a7" }] }, "/deliveries/0/event_id"],
	[{ filter: { status: "lost" } }, "/filter/status"],
	[{ filter: { since: "x" } }, "/filter/since"],
	[{ filter: { status_code: "503" } }, "/filter/status_code"],
	[{ filter: { status_code: ["lost"] } }, "/filter/status_code/0"],
	[{ filter: { status_code: [] } }, "/filter/status_code"],
	[{ filter: { limit: 1 } }, "/filter/limit"],
	[{ filter: {}, cursor: "x" }, "/cursor"],
	[{ filter: {}, before: "x" }, "/before"],
	[{ filter: {}, dry_run: 1 }, "/dry_run"],
	[{ deliveries: [{ webhook_id: "wh_01kbjh6mrxe3q8z1v2t4w5y6a7", event_id: "evt_1" }], dry_run: true }, "/dry_run"],
])("refuses to replay by %j", async (body, pointer) => {
	const { status, json } = await api.call("POST", `${await api.project()}/replays`, { body });
	expect(status).toBe(422);
	expect(json.errors.map((error) => error.pointer)).toEqual([pointer]);
});

test("says where a wrong cursor is, and describes codes in words", async () => {
	const project = await api.project();
	const faultsOf = async (path: string, body: unknown) =>
		(await api.call("POST", `${project}/${path}`, { body })).json.errors;
	for (const path of ["replays", "dismissals"])
		expect(await faultsOf(path, { filter: {}, cursor: "x" })).toEqual([
			{ pointer: "/cursor", detail: expect.stringContaining("next_cursor") },
		]);
	expect(await faultsOf("replays", { filter: { status_code: ["700x"], error: ["Time out"] } })).toEqual([
		{ pointer: "/filter/status_code/0", detail: "must be a status code such as 503, a class such as 5xx, or none" },
		{ pointer: "/filter/error/0", detail: "must be the error_code of an attempt, such as timeout" },
	]);
});

test("accepts at most two hundred deliveries", async () => {
	const project = await api.project();
	const one = { webhook_id: "wh_01kbjh6mrxe3q8z1v2t4w5y6a7", event_id: "evt_1" };
	const named = (length: number) => ({ deliveries: Array.from({ length }, () => one) });
	expect(await replay(project, named(200))).toEqual({ count: 0, skipped: 200 });
	expect((await api.call("POST", `${project}/replays`, { body: named(201) })).status).toBe(422);
});
