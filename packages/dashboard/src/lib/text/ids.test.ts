import { expect, it } from "vitest";
import { jumpTarget, shortId, shortOrderId } from "./ids.ts";

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
