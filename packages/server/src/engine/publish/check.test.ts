import { CURRENCIES, EVENT_TYPES } from "@posthorn/protocol";
import { expect, test } from "vitest";
import { faultsOf, MAX_AHEAD_MS } from "./check.ts";

const NOW = Date.UTC(2026, 10, 22);

const purchase = (change: object): { type: string; data: string } => ({
	type: "purchase.completed",
	data: JSON.stringify({
		order_id: "o",
		customer_email: "a@example.com",
		amount_cents: 1,
		currency: "EUR",
		items: [],
		...change,
	}),
});

test("every sample of the catalogue may be published", () => {
	for (const { type, sample } of EVENT_TYPES)
		expect(faultsOf({ type, data: JSON.stringify(sample) }, NOW), type).toEqual([]);
});

test("reports all faults of the fields together, with their locations", () => {
	const faults = faultsOf(purchase({ amount_cents: -1, currency: "eur", customer_email: undefined }), NOW);
	expect(faults.map(({ pointer }) => pointer).sort()).toEqual([
		"/data/amount_cents",
		"/data/currency",
		"/data/customer_email",
	]);
});

test("an unknown type is a fault, and data of a non-strict type may be any object", () => {
	expect(faultsOf({ type: "no.such", data: "{}" }, NOW)).toMatchObject([{ pointer: "/type" }]);
	expect(faultsOf({ type: "delivery.failed", data: '{"anything":[1]}' }, NOW)).toEqual([]);
});

// A list of a hundred thousand wrong elements once produced as many faults.
test("a long list of wrong elements produces one fault", () => {
	const wrong = purchase({ items: Array(100_000).fill(1) });
	expect(faultsOf(wrong, NOW)).toMatchObject([{ pointer: "/data/items/0" }]);
});

/** The text of a purchase, with these members replaced; `null` removes one. */
const written = (members: string, items = "[]"): { type: string; data: string } => ({
	type: "purchase.completed",
	data: `{"order_id":"o","customer_email":"a@example.com","currency":"EUR","items":${items},${members}}`,
});

// Data is delivered as written, and a receiver in Go can't read 100.0 into an int64.
test.each([
	['"amount_cents":100.0', "/data/amount_cents"],
	['"amount_cents":1e2', "/data/amount_cents"],
	['"amount_cents":0E0', "/data/amount_cents"],
	['"amount_cents":12345678901234567890', "/data/amount_cents"],
	['"amount_cents":9007199254740992', "/data/amount_cents"],
	['"amount_cents":1,"amount_cents":1', "/data/amount_cents"],
	['"amount_cents":1,"\\u0061mount_cents":1', "/data/amount_cents"],
	['"amount_cents":1,"order_id":"o"', "/data/order_id"],
	['"amount_cents":1,"items":[]', "/data/items"],
])("refuses what JSON readers interpret differently: %s", (members, pointer) => {
	expect(faultsOf(written(members), NOW).map((fault) => fault.pointer)).toEqual([pointer]);
});

test.each([
	['[{"unit_amount_cents":1}, {"unit_amount_cents":499.0}]', "/data/items/1/unit_amount_cents"],
	['[{"product_id":1e3}]', "/data/items/0/product_id"],
	['[{"product_id":9007199254740993}]', "/data/items/0/product_id"],
	['[1.0, {"name":"a","name":"a"}]', "/data/items/1/name"],
])("refuses it in the items too: %s", (items, pointer) => {
	expect(faultsOf(written('"amount_cents":1', items), NOW).map((fault) => fault.pointer)).toContain(pointer);
});

test("other members and non-integer numbers may be written in any form", () => {
	const free = '"amount_cents" : 9007199254740991 ,"note":1e2,"note":1e2,"more":{"amount_cents":1.0,"amount_cents":2}';
	const items = '[{"quantity":1.50,"product_id":"1e2","note":1,"note":2},{"unit_amount_cents":-0}]';
	expect(faultsOf(written(free, items), NOW)).toEqual([]);
});

test("only currencies in use are valid", () => {
	expect(faultsOf(purchase({ currency: "XXX" }), NOW)).toMatchObject([{ pointer: "/data/currency" }]);
	for (const currency of CURRENCIES) expect(faultsOf(purchase({ currency }), NOW), currency).toEqual([]);
});

test("created_at may be up to 5 minutes in the future, and any time in the past", () => {
	const at = (createdAt: number) => faultsOf({ ...purchase({}), createdAt }, NOW);
	expect(at(NOW + MAX_AHEAD_MS)).toEqual([]);
	expect(at(0)).toEqual([]);
	expect(at(NOW + MAX_AHEAD_MS + 1)).toMatchObject([{ pointer: "/created_at" }]);
});
