import { expect, it } from "vitest";
import { jumpTarget, shortId, shortOrderId, toldApart } from "./ids.ts";

it("keeps the kind and both ends of an id", () => {
	expect(shortId("evt_01kbjh6mrxe3q8z1v2t4w5y6a7")).toBe("evt_01kb…y6a7");
	expect(shortId("evt_short")).toBe("evt_short");
	expect(shortId("order-123456789012345")).toBe("orde…2345");
});

// What precedes an underscore was never shortened, so the column cut the end off, in which orders differ.
it.each([
	["ord_10482", "ord_10482"],
	["ord_0123456789012345678901", "ord_012345…45678901"],
	["ord_0123456789012345678901234567890123456789_7", "ord_012345…456789_7"],
	["🧾".repeat(30), `${"🧾".repeat(10)}…${"🧾".repeat(8)}`],
])("keeps both ends of the order id %s", (id, short) => {
	expect(shortOrderId(id)).toBe(short);
});

it("tells options apart that look the same", () => {
	const options = [
		{ value: "wh_01kbjh6mrxe3q8z1v2t4w5y6a7", label: "Shop" },
		{ value: "wh_01kbjh6mrxe3q8z1v2t4w5y6b8", label: "Shop\u00a0 \u200b" },
		{ value: "operator_key", label: "The operator's key" },
		{ value: "acc_1", label: "The operator's key", hint: "eve@example.com" },
		{ value: "acc_2", label: "Ada", hint: "ada@example.com" },
	];
	expect(toldApart(options).map(({ label }) => label)).toEqual([
		...["Shop (wh_01kb…y6a7)", "Shop\u00a0 \u200b (wh_01kb…y6b8)"],
		...["The operator's key (operator_key)", "The operator's key (eve@example.com)", "Ada"],
	]);
});

// A member was offered as "Ada (ada@example.com)", which was taken for Ada.
it("tells options apart of which one is named like the other with its hint", () => {
	const options = [
		{ value: "acc_1", label: "Ada", hint: "ada@example.com" },
		{ value: "acc_2", label: "Ada (ada@example.com)", hint: "eve@example.com" },
		{ value: "acc_3", label: "Ben (Berlin)", hint: "ben@example.com" },
	];
	expect(toldApart(options).map(({ label }) => label)).toEqual([
		"Ada (ada@example.com)",
		"Ada (ada@example.com) (eve@example.com)",
		"Ben (Berlin)",
	]);
});

it.each([
	["  evt_01kb ", { kind: "event", id: "evt_01kb" }],
	['"att_01kb",', { kind: "attempt", id: "att_01kb" }],
	["wh_01kb", { kind: "webhook", id: "wh_01kb" }],
	["proj_01kb", { kind: "project", id: "proj_01kb" }],
	["ord_01kb", { kind: "unknown", id: "ord_01kb" }],
	["toString_x", { kind: "unknown", id: "toString_x" }],
	["constructor_x", { kind: "unknown", id: "constructor_x" }],
	["", { kind: "unknown", id: "" }],
])("finds the target of %j", (text, target) => {
	expect(jumpTarget(text)).toEqual(target);
});
