import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningStore, startStore } from "../store/index.ts";
import { TestApi } from "./api.fixture.ts";

let store: RunningStore;
let api: TestApi;
let project: string;
beforeAll(async () => {
	api = await TestApi.start({
		parts: (parts) => {
			// No fact may wait.
			const intake = { facts: 0, bytes: 0 };
			store = startStore({ ...parts, ...parts.config, basketIdleMs: 1_000, intake });
			return { store };
		},
	});
	project = await api.project();
});
afterAll(async () => {
	await store.stop();
	await api.close();
});

const ORDER = { order_id: "o", customer_email: "ada@example.com", amount_cents: 1, currency: "EUR", items: [{}] };

test.each([
	["POST", "/orders", ORDER],
	["POST", "/orders/batch", { orders: [{ ...ORDER, currency: "eur" }, ORDER] }],
	["POST", "/orders/o/refunds", { refund_id: "r", amount_cents: 1 }],
	["POST", "/orders/o/chargebacks", { chargeback_id: "c", amount_cents: 1 }],
	["POST", "/orders/o/deliverables/d", { kind: "file", outcome: "completed" }],
	["PUT", "/baskets/b", { items: [{}] }],
	["PUT", "/baskets/b", { items: [] }],
	["DELETE", "/baskets/b", undefined],
	["POST", "/subscriptions", { subscription_id: "s", customer_email: "ada@example.com", plan: "vip" }],
	["POST", "/subscriptions/s/cancel", undefined],
])("%s %s is told to come again when more is reported than can be written", async (method, path, body) => {
	const { status, headers, json } = await api.call(method, project + path, { body });
	expect([status, json.type, headers["retry-after"]]).toEqual([429, "/problems/too-many-requests", "1"]);
	expect(json.detail).toContain("nothing was recorded now");
});

test("what is wrong with a report is told all the same, and nothing was recorded", async () => {
	expect((await api.call("POST", `${project}/orders`, { body: { ...ORDER, currency: "eur" } })).status).toBe(422);
	expect((await api.call("GET", `${project}/events`)).json.data).toEqual([]);
});
