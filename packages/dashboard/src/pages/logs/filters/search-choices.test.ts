import { expect, it } from "vitest";
import { choicesOf, searchFor } from "./search-choices.ts";

it.each([
	["evt_01kb", ["event evt_01kb"]],
	[" att_01kb", ["attempt att_01kb"]],
	['"wh_01kb"', ["webhook wh_01kb"]],
	["ord_10482", ["order ord_10482", "text ord_10482"]],
	["10482", ["order 10482", "text 10482"]],
	["Ada@example.com ", ["customer Ada@example.com", "text Ada@example.com"]],
	["out of stock", ["text out of stock", "order out of stock"]],
	["7", ["order 7"]],
	["#1234", ["order 1234", "order #1234", "text #1234"]],
	["Order #1234", ["order 1234", "order Order #1234", "text Order #1234"]],
	["order 1234", ["order 1234", "order order 1234", "text order 1234"]],
	["orders", ["order orders", "text orders"]],
	["#", ["order #"]],
	// Pasted from the page, which isolates what is written from right to left.
	["\u2068הזמנה-7\u2069", ["order הזמנה-7", "text הזמנה-7"]],
	["  ", []],
])("offers what %j may mean", (typed, choices) => {
	expect(choicesOf(typed).map(({ kind, value }) => `${kind} ${value}`)).toEqual(choices);
});

// The next search kept the event of the last one, and found nothing.
it("replaces an event by an order, and orders and customers by an event", () => {
	const choice = (typed: string) => choicesOf(typed)[0]!;
	const search = searchFor(choice("1103"), { state: "failed", text: "sold out" });
	expect(search).toEqual({ state: "failed", order_id: "1103" });
	expect(searchFor(choice("1104"), search)).toEqual({ state: "failed", order_id: "1103,1104" });
	expect(searchFor(choice("ann@example.com"), search)).toEqual({ ...search, customer_email: "ann@example.com" });
	expect(searchFor(choice("evt_1"), search)).toEqual({ state: "failed", event_id: "evt_1" });
	expect(searchFor(choice("wh_1"), { event_id: "evt_1" })).toEqual({ event_id: "evt_1", webhook_id: "wh_1" });
	expect(searchFor(choice("1103"), { event_id: "evt_1" })).toEqual({ order_id: "1103" });
});
