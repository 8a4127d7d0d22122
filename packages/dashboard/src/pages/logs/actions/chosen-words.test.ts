import { expect, it } from "vitest";
import { chosenWords, onlyRow } from "./chosen-words.ts";

const ROWS = [
	{ webhook_id: "wh_a", event_id: "evt_1", event_type: "purchase.completed", order_id: "ord_1" },
	{ webhook_id: "wh_b", event_id: "evt_1", event_type: "purchase.completed", order_id: "ord_1" },
	{ webhook_id: "wh_b", event_id: "evt_2", event_type: "customer.created", order_id: null },
];
const names = new Map([
	["wh_a", "Accounting"],
	["wh_b", "Chat"],
]);
const words = (...indexes: number[]) =>
	chosenWords(
		indexes.map((index) => ROWS[index]!),
		ROWS,
		(id) => names.get(id) ?? id,
	).replaceAll(/[\u2066-\u2069]/g, "");

it("names a single delivery, and counts several", () => {
	expect(words(1)).toBe("purchase.completed (order ord_1) to Chat");
	expect(words(2)).toBe("customer.created to Chat");
	expect(words(0, 1)).toBe("2 deliveries");
	expect(words()).toBe("0 deliveries");
});

it("counts one whose row has left the list", () => {
	const gone = [{ webhook_id: "wh_a", event_id: "evt_2" }];
	expect(onlyRow(gone, ROWS)).toBeUndefined();
	expect(chosenWords(gone, ROWS, String)).toBe("1 delivery");
});
