import { expect, it } from "vitest";
import { choicesOf } from "./search-choices.ts";

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
