import { expect, test } from "vitest";
import { Orders } from "./orders.ts";
import { type FactRecorder, ID_LENGTH, idFaults, itemFaults } from "./recorder.ts";

test("an id fits into a URL, percent-encoded", () => {
	expect(idFaults("/id", "x".repeat(ID_LENGTH))).toEqual([]);
	expect(idFaults("/id", "x".repeat(ID_LENGTH + 1))).toMatchObject([{ pointer: "/id" }]);
	// Six bytes each.
	expect(idFaults("/id", "ä".repeat(16))).toEqual([]);
	expect(idFaults("/id", "ä".repeat(17))).toMatchObject([{ pointer: "/id" }]);
});

test("item numbers that would lose digits are refused at any depth", () => {
	expect(itemFaults([{ id: Number.MAX_SAFE_INTEGER }, { price: 1.5, many: -3 }])).toEqual([]);
	expect(itemFaults([{ id: 1 }, { of: [{ id: 2 ** 53 }] }])).toMatchObject([{ pointer: "/items/1" }]);
	expect(itemFaults([{ price: Number.POSITIVE_INFINITY }])).toMatchObject([{ pointer: "/items/0" }]);
});

test("a refund needs a positive amount", async () => {
	// Storage isn't called.
	const orders = new Orders({} as FactRecorder);
	for (const amount_cents of [0, -1, 1.5]) {
		const result = await orders.refund("proj_1", "order", { refund_id: "refund", amount_cents });
		expect(result).toMatchObject({ kind: "invalid", faults: [{ pointer: "/amount_cents" }] });
	}
});
