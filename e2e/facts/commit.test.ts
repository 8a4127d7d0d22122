/** The connection to PostgreSQL breaks while a fact is committed, before or after the server receives the commit. */
import { randomBytes } from "node:crypto";
import { EVENT_TYPES } from "@posthorn/protocol";
import { type CommitFate, PostgresProxy, Signal } from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Shop } from "../shop.ts";
import type { LoggedEvent } from "./check.ts";

const ORDER = { customer_email: "ada@example.com", amount_cents: 100, currency: "EUR", items: [{ name: "VIP" }] };

/** For each fact: what its transaction writes, how it is reported, and the events that it creates. */
const FACTS: readonly [table: RegExp, path: string, report: object | undefined, makes: readonly string[]][] = [
	[/INTO posthorn\.store_orders/, "/orders", { ...ORDER, order_id: "o" }, ["customer.created", "purchase.completed"]],
	[/INTO posthorn\.store_orders/, "/orders", { ...ORDER, order_id: "p" }, ["purchase.completed"]],
	[/INTO posthorn\.store_refunds/, "/orders/o/refunds", { refund_id: "r", amount_cents: 40 }, ["purchase.refunded"]],
	[/INTO posthorn\.store_refunds/, "/orders/o/refunds", { refund_id: "s", amount_cents: 60 }, ["purchase.refunded"]],
	[/store_chargebacks/, "/orders/o/chargebacks", { chargeback_id: "c", amount_cents: 5 }, ["chargeback.created"]],
	[
		/INTO posthorn\.store_deliverables/,
		"/orders/o/deliverables/d",
		{ kind: "file", outcome: "completed" },
		["delivery.success"],
	],
	[
		/INTO posthorn\.store_deliverables/,
		"/orders/o/deliverables/e",
		{ kind: "file", outcome: "dead_lettered" },
		["delivery.failed"],
	],
	[
		/INTO posthorn\.store_subscriptions/,
		"/subscriptions",
		{ subscription_id: "s", customer_email: "a@b", plan: "vip" },
		["subscription.created"],
	],
	[/UPDATE posthorn\.store_subscriptions/, "/subscriptions/s/cancel", undefined, ["subscription.canceled"]],
];

let server: PostgresServer;
let proxy: PostgresProxy;
let shop: Shop;
const arrived = new Map<string, LoggedEvent>();
const signal = new Signal();
beforeAll(async () => {
	server = await PostgresServer.start();
	const database = await server.createDatabase();
	proxy = await PostgresProxy.start(database);
	shop = await Shop.open({
		POSTHORN_DATABASE_URL: proxy.url(database),
		POSTHORN_SEAL_KEY: randomBytes(32).toString("base64"),
		POSTHORN_BASKET_IDLE: "2",
	});
	const receiver = await shop.receiver({
		respond: (request) => {
			expect(request.verified).toBe(true);
			const event = request.body as LoggedEvent;
			arrived.set(event.id, event);
			signal.look();
			return { status: 200 };
		},
	});
	await shop.webhook(receiver.url("/"), { events: EVENT_TYPES.map(({ type }) => type) });
});
afterAll(async () => {
	await shop[Symbol.asyncDispose]();
	await proxy.close();
	await server.stop();
});

/** Applies this fate to the next commit of a transaction with such a statement. Resolves when it has happened. */
function nextCommit(of: RegExp, fate: CommitFate): Promise<void> {
	return new Promise((resolve) => {
		proxy.onCommit = (statements) => {
			if (!statements.some((text) => of.test(text))) return "pass";
			proxy.onCommit = () => "pass";
			resolve();
			return fate;
		};
	});
}

const log = (): Promise<LoggedEvent[]> => shop.all(shop.path("/events"));

describe.each(["lose", "lose_answer"] as const)("a commit that meets %s", (fate) => {
	beforeAll(async () => {
		// A separate project, so that all facts are new.
		const { id } = (await shop.post("/v1/projects", { name: fate })).body;
		shop.projectId = id;
		const [receiver] = shop.receivers;
		await shop.webhook(receiver!.url("/"), { events: EVENT_TYPES.map(({ type }) => type) });
	});

	test.each(FACTS)(
		"%s, POST %s %j: 503, and the repeat creates %j exactly once",
		async (table, path, report, makes) => {
			const before = await log();
			const met = nextCommit(table, fate);
			const [refused] = await Promise.all([shop.post(shop.path(path), report), met]);
			expect([refused.status, refused.body.type]).toEqual([503, "/problems/unavailable"]);
			const between = (await log()).slice(before.length);
			expect(between.map(({ type }) => type)).toEqual(fate === "lose" ? [] : makes);
			if (path === "/orders") {
				const batch = await shop.post(shop.path("/orders/batch"), { orders: [report] });
				expect(batch.body.results[0].outcome).toBe(fate === "lose" ? "recorded" : "repeated");
			}
			const again = await shop.post(shop.path(path), report);
			expect(again.status).toBeLessThan(300);
			const after = (await log()).slice(before.length);
			expect(after.map(({ type }) => type)).toEqual(makes);
			expect(again.body.events.map(({ id }: { id: string }) => id)).toEqual(after.map(({ id }) => id));
			if (fate === "lose_answer") expect(after).toEqual(between);
			await signal.until("the events to arrive", () => after.every(({ id }) => arrived.has(id)));
		},
	);

	test("a basket's touch gets 503, and the repeat is another touch; a basket is still abandoned exactly once", async () => {
		const before = (await log()).length;
		const touch = (id: string) =>
			shop.call("PUT", shop.path(`/baskets/${id}`), JSON.stringify({ items: [{ name: "VIP" }] }));
		const touchMet = nextCommit(/INTO posthorn\.store_baskets/, fate);
		const [refused] = await Promise.all([touch("x"), touchMet]);
		expect(refused.status).toBe(503);
		const endMet = nextCommit(/DELETE FROM posthorn\.store_baskets/, fate);
		for (const id of ["x", "y"]) expect((await touch(id)).status).toBe(200);
		await endMet;
		const isAbandoned = (id: string) =>
			[...arrived.values()].some(({ data, project_id }) => data.basket_id === id && project_id === shop.projectId);
		await signal.until("both baskets to be abandoned", () => isAbandoned("x") && isAbandoned("y"));
		const abandoned = (await log()).slice(before).map(({ type, data }) => [type, data.basket_id]);
		expect(abandoned.sort()).toEqual([
			["basket.abandoned", "x"],
			["basket.abandoned", "y"],
		]);
	});
});
