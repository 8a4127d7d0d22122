import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import type { EventType } from "./catalogue/entry.ts";
import { EVENT_TYPES, eventTypeEntry, isEventType } from "./catalogue.ts";

const NAMES: EventType[] = [
	"customer.created",
	"purchase.completed",
	"purchase.refunded",
	"delivery.success",
	"delivery.failed",
	"basket.abandoned",
	"subscription.created",
	"subscription.canceled",
	"chargeback.created",
];

const ajv = new Ajv2020({ strict: true, allErrors: true });

function accepts(type: EventType, data: unknown): boolean {
	return ajv.validate(eventTypeEntry(type).schema, data);
}

const completed = { order_id: "1", customer_email: "a@b.example", amount_cents: 0, currency: "USD", items: [] };

describe("catalogue", () => {
	it("has the specification's event types in its order", () => {
		expect(EVENT_TYPES.map((entry) => entry.type)).toEqual(NAMES);
	});

	it("marks the announced types as future and checks the two types with a stated shape", () => {
		const where = (flag: "future" | "strict") => EVENT_TYPES.filter((entry) => entry[flag]).map((entry) => entry.type);
		expect(where("future")).toEqual(["subscription.created", "subscription.canceled"]);
		expect(where("strict")).toEqual(["purchase.completed", "purchase.refunded"]);
	});

	it.each(EVENT_TYPES)("$type: the sample is valid, survives JSON and only uses documented fields", (entry) => {
		const sample: unknown = JSON.parse(JSON.stringify(entry.sample));
		expect(sample).toEqual(entry.sample);
		expect(ajv.validate(entry.schema, sample), ajv.errorsText()).toBe(true);
		const closed = { ...entry.schema, additionalProperties: false };
		expect(ajv.validate(closed, sample), ajv.errorsText()).toBe(true);
		expect(entry.description).toMatch(/^[A-Z].*\.$/);
	});

	it.each(EVENT_TYPES)("$type: data must be an object and may have further fields", ({ type, sample }) => {
		expect(accepts(type, { ...sample, further: { at: 1 } })).toBe(true);
		for (const data of [null, [], "text", 1]) expect(accepts(type, data)).toBe(false);
	});

	it("finds entries by exact name", () => {
		for (const name of NAMES) {
			expect(isEventType(name)).toBe(true);
			expect(eventTypeEntry(name).type).toBe(name);
		}
		for (const name of ["", "Purchase.completed", "purchase.completed ", "__proto__", "constructor"]) {
			expect(isEventType(name)).toBe(false);
			expect(() => eventTypeEntry(name as EventType)).toThrow(RangeError);
		}
	});
});

describe("purchase.completed", () => {
	it("takes the five fields of the specification, with items of any shape", () => {
		expect(accepts("purchase.completed", completed)).toBe(true);
		expect(accepts("purchase.completed", { ...completed, items: [{}, { sku: 7, quantity: 3 }] })).toBe(true);
	});

	it.each(Object.keys(completed))("needs %s", (field) => {
		const data = Object.fromEntries(Object.entries(completed).filter(([name]) => name !== field));
		expect(accepts("purchase.completed", data)).toBe(false);
	});

	it.each([
		{ order_id: "" },
		{ order_id: 1 },
		{ customer_email: "ada" },
		{ customer_email: "ada@" },
		{ customer_email: "a da@example.com" },
		{ customer_email: "a@b@example.com" },
		{ customer_email: `${"a".repeat(320)}@example.com` },
		{ amount_cents: -1 },
		{ amount_cents: 1.5 },
		{ amount_cents: "1" },
		{ currency: "usd" },
		{ currency: "USDT" },
		{ items: {} },
		{ items: ["sku"] },
		{ items: [{ quantity: 0 }] },
		{ items: [{ unit_amount_cents: -1 }] },
	])("refuses %j", (change) => {
		expect(accepts("purchase.completed", { ...completed, ...change })).toBe(false);
	});
});

describe("purchase.refunded", () => {
	it("only needs the order and the flag", () => {
		expect(accepts("purchase.refunded", { order_id: "1", partial: false })).toBe(true);
		expect(accepts("purchase.refunded", { order_id: "1" })).toBe(false);
		expect(accepts("purchase.refunded", { partial: true })).toBe(false);
		expect(accepts("purchase.refunded", { order_id: "1", partial: "true" })).toBe(false);
		expect(accepts("purchase.refunded", { order_id: "1", partial: true, amount_cents: -5 })).toBe(false);
	});
});
