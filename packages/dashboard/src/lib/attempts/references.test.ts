import { expect, test } from "vitest";
import { referencesOf } from "./references.ts";

test("the order and the customer are read from any event's data", () => {
	const body = (data: unknown) => JSON.stringify({ id: "evt_1", data });
	expect(referencesOf(body({ order_id: "1234", customer_email: "anna@example.com" }))).toEqual({
		order: "1234",
		customer: "anna@example.com",
	});
	for (const odd of [body({}), body(null), body([1]), body({ order_id: 7, customer_email: "" }), "null", "{", ""])
		expect(referencesOf(odd)).toEqual({ order: null, customer: null });
});
