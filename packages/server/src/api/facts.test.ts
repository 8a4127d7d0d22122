import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { TestApi } from "../../test/api/api.ts";
import type { Json } from "../../test/api/response.ts";
import { absentId } from "../base/ids.fixture.ts";

let api: TestApi;
let project: string;
beforeAll(async () => {
	api = await TestApi.start({ maxEventBytes: 20_000 });
});
afterAll(() => api.close());
beforeEach(async () => {
	project = await api.project();
});

const ORDER = {
	order_id: "ord_1",
	customer_email: "ada@example.com",
	amount_cents: 1_000,
	currency: "EUR",
	items: [{ product_id: "p", name: "VIP", quantity: 1, unit_amount_cents: 1_000 }],
};
const post = (path: string, body?: unknown) => api.call("POST", project + path, { body });
const order = (about: object = {}) => post("/orders", { ...ORDER, ...about });
async function log(): Promise<{ id: string; type: string; data: Json }[]> {
	return (await api.call("GET", `${project}/events?limit=200`)).json.data as never;
}
const types = async () => (await log()).map(({ type }) => type);

test("an order creates customer.created and purchase.completed once, and a repeat gets the same response", async () => {
	const first = await order({ customer_email: " Ada@Example.com " });
	expect(first.status).toBe(201);
	const events = await log();
	expect(events.map(({ type, data }) => [type, data])).toEqual([
		["customer.created", { customer_email: "Ada@Example.com", order_id: "ord_1" }],
		["purchase.completed", { ...ORDER, customer_email: "Ada@Example.com" }],
	]);
	expect((first.json as unknown as { events: { id: string }[] }).events.map(({ id }) => id)).toEqual(
		events.map(({ id }) => id),
	);
	const again = await order({ customer_email: "Ada@Example.com" });
	expect([again.status, again.text]).toEqual([201, first.text]);
	expect((await order({ amount_cents: 1_001 })).status).toBe(409);
	expect((await order({ order_id: "ord_2", customer_email: "ADA@EXAMPLE.COM" })).status).toBe(201);
	expect(await types()).toEqual(["customer.created", "purchase.completed", "purchase.completed"]);
});

test.each([
	["/amount_cents", { amount_cents: -1 }],
	["/amount_cents", { amount_cents: 1.5 }],
	["/amount_cents", { amount_cents: "1" }],
	["/currency", { currency: "eur" }],
	["/currency", { currency: "ZZZ" }],
	["/customer_email", { customer_email: "ada" }],
	["/customer_email", { customer_email: "a\u0000@b" }],
	["/items/0/quantity", { items: [{ quantity: 0 }] }],
	["/items/1", { items: [{}, 7] }],
	["/items/0", { items: [{ product_id: 2 ** 60 }] }],
	["/items", { items: {} }],
	["/order_id", { order_id: "" }],
	["/order_id", { order_id: "é".repeat(20) }],
	["/basket_id", { basket_id: ".." }],
	["/coupon", { coupon: "x" }],
])("an order with a wrong %s is refused: %j", async (pointer, about) => {
	const { status, json } = await order(about);
	expect(status).toBe(422);
	expect(json.errors.map((fault) => fault.pointer)).toEqual([pointer]);
	expect(await log()).toEqual([]);
});

test("refuses an order whose event is too large or whose project is missing", async () => {
	expect((await order({ items: [{ name: "x".repeat(20_000) }] })).status).toBe(413);
	expect((await api.call("POST", `${absentId(project)}/orders`, { body: ORDER })).status).toBe(404);
});

test("refunds are partial until the sum reaches the amount, and no more than that", async () => {
	const refund = (refund_id: string, amount_cents: number) =>
		post("/orders/ord_1/refunds", { refund_id, amount_cents });
	const early = await refund("r", 1);
	expect([early.status, early.json.detail]).toEqual([404, expect.stringContaining("Report the order first")]);
	await order();
	expect((await refund("r1", 400)).status).toBe(201);
	const tooMuch = await refund("r2", 601);
	expect([tooMuch.status, tooMuch.json.detail]).toEqual([
		409,
		expect.stringContaining("600 minor units of EUR are left"),
	]);
	expect((await refund("r2", 600)).status).toBe(201);
	expect((await refund("r1", 400)).status).toBe(201);
	expect((await refund("r1", 401)).status).toBe(409);
	expect((await refund("r3", 0)).status).toBe(422);
	const refunds = (await log()).slice(2).map(({ type, data }) => [type, data]);
	const data = { order_id: "ord_1", currency: "EUR" };
	expect(refunds).toEqual([
		["purchase.refunded", { ...data, refund_id: "r1", amount_cents: 400, partial: true }],
		["purchase.refunded", { ...data, refund_id: "r2", amount_cents: 600, partial: false }],
	]);
});

test("deliverables end once, after their order; chargebacks and subscriptions create their events once", async () => {
	const deliver = (id: string, outcome: string, kind = "file") =>
		post(`/orders/ord_1/deliverables/${id}`, { kind, outcome });
	const dispute = (amount_cents: number) =>
		post("/orders/ord_1/chargebacks", { chargeback_id: "c", amount_cents, reason: "fraudulent" });
	expect([(await deliver("d", "completed")).status, (await dispute(5)).status]).toEqual([404, 404]);
	await order();
	const kinds = ["game_command", "chat_role", "file"];
	for (const [i, kind] of kinds.entries()) {
		expect((await deliver(`d${i}`, "completed", kind)).status).toBe(201);
		expect((await deliver(`f${i}`, "dead_lettered", kind)).status).toBe(201);
		expect((await deliver(`d${i}`, "completed", kind)).status).toBe(201);
		expect((await deliver(`d${i}`, "dead_lettered", kind)).status).toBe(409);
	}
	expect((await deliver("d9", "lost")).status).toBe(422);
	expect([(await dispute(5)).status, (await dispute(5)).status, (await dispute(6)).status]).toEqual([201, 201, 409]);
	const plan = { subscription_id: "s", customer_email: "ada@example.com", plan: "vip" };
	expect((await post("/subscriptions/s/cancel")).status).toBe(404);
	const begun = [await post("/subscriptions", plan), await post("/subscriptions", plan)];
	expect(begun.map(({ status, text }) => [status, text])).toEqual(Array(2).fill([201, begun[0]!.text]));
	expect((await post("/subscriptions", { ...plan, plan: "other" })).status).toBe(409);
	const ended = [await post("/subscriptions/s/cancel"), await post("/subscriptions/s/cancel")];
	expect(ended.map(({ status, text }) => [status, text])).toEqual(Array(2).fill([200, ended[0]!.text]));
	expect(await types()).toEqual([
		...["customer.created", "purchase.completed"],
		...kinds.flatMap(() => ["delivery.success", "delivery.failed"]),
		...["chargeback.created", "subscription.created", "subscription.canceled"],
	]);
	const last = (await log()).slice(-3).map(({ data }) => data);
	const chargeback = { chargeback_id: "c", order_id: "ord_1", amount_cents: 5, currency: "EUR", reason: "fraudulent" };
	expect(last).toEqual([chargeback, plan, plan]);
});

test("a batch reports each order's outcome, in order", async () => {
	await order({ order_id: "known" });
	const orders = [
		{ ...ORDER, order_id: "new" },
		{ ...ORDER, order_id: "known" },
		{ ...ORDER, order_id: "known", amount_cents: 5 },
		{ ...ORDER, order_id: "wrong", currency: "eur" },
		{ order_id: "poor" },
		7,
		{ ...ORDER, order_id: "large", items: [{ name: "x".repeat(20_000) }] },
		{ ...ORDER, order_id: "last" },
	];
	const { status, json } = await post("/orders/batch", { orders });
	expect(status).toBe(200);
	const results = (json as unknown as { results: { order_id: string; outcome: string; errors?: object[] }[] }).results;
	expect(results.map(({ order_id, outcome }) => [order_id, outcome])).toEqual([
		["new", "recorded"],
		["known", "repeated"],
		["known", "conflict"],
		["wrong", "invalid"],
		["poor", "invalid"],
		[null, "invalid"],
		["large", "too_large"],
		["last", "recorded"],
	]);
	expect(results[3]!.errors).toMatchObject([{ pointer: "/orders/3/currency" }]);
	expect((await types()).filter((type) => type === "purchase.completed")).toHaveLength(3);
	for (const wrong of [[], {}, { orders: [] }, { orders: Array(1_001).fill(ORDER) }, { orders: [ORDER], more: 1 }])
		expect((await post("/orders/batch", wrong)).status).toBe(422);
});

test("a basket is touched, emptied, removed and bought", async () => {
	const put = (items: unknown, id = "b1") => api.call("PUT", `${project}/baskets/${id}`, { body: { items } });
	const touched = await put([{ name: "Crate key" }]);
	expect(touched.status).toBe(200);
	const { touched_at, abandoned_at } = touched.json as unknown as { touched_at: string; abandoned_at: string };
	expect(Date.parse(abandoned_at) - Date.parse(touched_at)).toBe(86_400_000);
	expect((await put([])).json).toMatchObject({ basket_id: "b1", abandoned_at: null });
	expect((await put([3])).status).toBe(422);
	expect((await put([{}], "..%2F..")).status).toBe(200);
	for (const _ of [1, 2]) expect((await api.call("DELETE", `${project}/baskets/b1`)).status).toBe(204);
	// No basket can have such an id, so a caller that deletes one has made a mistake.
	for (const id of ["%00", "%C3%A9".repeat(20)])
		expect((await api.call("DELETE", `${project}/baskets/${id}`)).status).toBe(422);
	await put([{}]);
	await order({ basket_id: "b1" });
	const bought = await put([{}]);
	expect([bought.status, bought.json.detail]).toEqual([
		409,
		expect.stringContaining("Use another id for the next basket"),
	]);
	expect(await types()).toEqual(["customer.created", "purchase.completed"]);
	expect((await api.call("DELETE", `${absentId(project)}/baskets/b1`)).status).toBe(404);
});

test("events from facts are delivered immediately, in order", async () => {
	const webhook = await api.webhook(project, { events: ["customer.created", "purchase.completed", "delivery.failed"] });
	const before = api.receiver.requests.length;
	await order();
	await post("/orders/ord_1/deliverables/d", { kind: "file", outcome: "dead_lettered" });
	await api.attempted(3);
	const sent = api.receiver.requests.slice(before).map(({ body }) => (JSON.parse(body.toString()) as Json).type);
	expect(sent).toEqual(["customer.created", "purchase.completed", "delivery.failed"]);
	await api.call("DELETE", webhook);
});
