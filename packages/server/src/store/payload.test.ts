import { expect, test } from "vitest";
import { ID_LENGTH, idFaults, itemFaults } from "./recorder.ts";

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
