import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { until } from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { doctor } from "../packages/cli/test/doctor.fixture.ts";
import { purchase, Shop } from "./shop.ts";

const DAY_MS = 86_400_000;
const PRELOAD = fileURLToPath(new URL("database/clock-ahead.ts", import.meta.url));
const FORTY_DAYS_AHEAD = {
	settings: { CLOCK_AHEAD_MS: String(40 * DAY_MS) },
	nodeOptions: ["--import", PRELOAD],
};

const A_YEAR_BEHIND = {
	settings: { CLOCK_AHEAD_MS: String(-365 * DAY_MS) },
	nodeOptions: ["--import", PRELOAD],
};

let server: PostgresServer;
beforeAll(async () => {
	server = await PostgresServer.start();
});
afterAll(() => server.stop());

const onPostgres = async () => ({
	POSTHORN_DATABASE_URL: await server.createDatabase(),
	POSTHORN_SEAL_KEY: randomBytes(32).toString("base64"),
});

describe.each([
	["SQLite", async () => ({})],
	["PostgreSQL", onPostgres],
])("on %s", (_, settings) => {
	// A wrong clock once deleted the log of 30 days within seconds, and dead-lettered the backlog.
	test("a clock that is 40 days ahead deletes and dead-letters nothing until an operator confirms it", async () => {
		await using shop = await Shop.open(await settings());
		const receiver = await shop.receiver();
		const live = await shop.webhook(receiver.url("/live"));
		const paused = await shop.webhook(receiver.url("/paused"), { events: ["purchase.completed"] });
		await shop.patch(shop.path(`/webhooks/${paused.id}`), { status: "paused" });
		const publish = async (n: number) => (await shop.post(shop.path("/events"), purchase(n))).body.id as string;
		const delivered = () => shop.all(shop.path(`/attempts?webhook_id=${live.id}`));
		const waiting = async () => (await shop.get(shop.path(`/webhooks/${paused.id}`))).body.backlog.events as number;
		const isOnHold = async () => (await shop.get("/v1/clock")).body.on_hold as boolean;

		const first = await publish(1);
		await until("the first event to be delivered", async () => (await delivered()).length === 1);
		expect(await isOnHold()).toBe(false);
		await shop.service.stop();

		await shop.start(FORTY_DAYS_AHEAD);
		expect((await shop.get("/v1/clock")).body).toMatchObject({
			on_hold: true,
			detail: expect.stringMatching(/after the last time/),
		});
		expect((await shop.get("/readyz")).body).toMatchObject({
			status: "ok",
			notice: expect.stringMatching(/Nothing is deleted/),
		});
		expect(await (await fetch(`${shop.service.url}/metrics`)).text()).toContain("\nposthorn_clock_hold 1\n");
		await until("the hold to be logged", () => /Nothing is deleted/.test(shop.service.output));
		// Deliveries continue.
		await publish(2);
		await until("the second event to be delivered", async () => (await delivered()).length === 2);
		expect(await waiting()).toBe(2);
		const env = { ...shop.settings, ...FORTY_DAYS_AHEAD.settings };
		const report = await doctor(env, shop.folder, { node: FORTY_DAYS_AHEAD.nodeOptions });
		expect(report.lines.Retention).toMatchObject({ state: "warning", text: expect.stringMatching(/clock shows/) });
		await shop.service.stop();

		await shop.start();
		expect(await isOnHold()).toBe(false);
		expect((await delivered()).map(({ event_id }) => event_id)).toContain(first);
		expect(await waiting()).toBe(2);
		await shop.service.stop();

		await shop.start(FORTY_DAYS_AHEAD);
		expect((await shop.get("/v1/clock")).body.on_hold).toBe(true);
		expect((await shop.post("/v1/clock/confirm", {})).body).toMatchObject({ on_hold: false, detail: null });
		await until("the first event's attempt to be deleted", async () =>
			(await delivered()).every(({ event_id }) => event_id !== first),
		);
		await until("the paused webhook's event to be dead-lettered", async () => {
			const closed = await shop.all(shop.path(`/attempts?webhook_id=${paused.id}`));
			return closed.some(({ event_id, error_code }) => event_id === first && error_code === "expired");
		});
	});

	// Once its clock was set, a machine that had lost the time deleted everything it had accepted and sent in the meantime.
	test("what happened while the clock was a year behind is kept until an operator confirms the right time", async () => {
		await using shop = await Shop.open(await settings());
		const receiver = await shop.receiver();
		await shop.service.stop();

		await shop.start(A_YEAR_BEHIND);
		const live = await shop.webhook(receiver.url("/live"));
		const paused = await shop.webhook(receiver.url("/paused"));
		await shop.patch(shop.path(`/webhooks/${paused.id}`), { status: "paused" });
		const { id } = (await shop.post(shop.path("/events"), purchase(1))).body;
		const attempts = (webhook: { readonly id: string }) => shop.all(shop.path(`/attempts?webhook_id=${webhook.id}`));
		await until("the event to be delivered", async () => (await attempts(live)).length === 1);
		await shop.service.stop();

		await shop.start();
		await shop.patch(shop.path(`/webhooks/${paused.id}`), { status: "active" });
		await until("the waiting event to be sent", async () => (await attempts(paused)).length === 1);
		expect((await attempts(paused))[0]).toMatchObject({ event_id: id, status: "delivered" });
		expect(await attempts(live)).toHaveLength(1);
		expect((await shop.get("/v1/clock")).body.on_hold).toBe(true);
	});
});
