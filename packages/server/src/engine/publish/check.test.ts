import { EVENT_TYPES } from "@posthorn/protocol";
import { expect, test } from "vitest";
import { faultsOf } from "./check.ts";

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
		expect(faultsOf([{ type, data: JSON.stringify(sample) }]), type).toEqual([]);
});

test("all faults of the fields are told at once, with where they are", () => {
	const faults = faultsOf([purchase({}), purchase({ amount_cents: -1, currency: "eur", customer_email: undefined })]);
	expect(faults.map(({ index, pointer }) => `${index} ${pointer}`).sort()).toEqual([
		"1 /data/amount_cents",
		"1 /data/currency",
		"1 /data/customer_email",
	]);
});

test("an unknown type is a fault, and data of a type that is not strict is any object", () => {
	expect(faultsOf([{ type: "no.such", data: "{}" }])).toMatchObject([{ index: 0, pointer: "/type" }]);
	expect(faultsOf([{ type: "delivery.failed", data: '{"anything":[1]}' }])).toEqual([]);
});

// A list of a hundred thousand wrong elements once made as many faults, and a batch of them took seconds and 600 MB.
test("a long list of wrong elements makes one fault, and a batch of them no more than can be read", () => {
	const wrong = purchase({ items: Array(100_000).fill(1) });
	expect(faultsOf([wrong])).toMatchObject([{ pointer: "/data/items/0" }]);
	expect(faultsOf(Array(1_000).fill(purchase({ items: [1] })))).toHaveLength(100);
});
