import { describe, expect, it } from "vitest";
import { rowWords } from "./event-words.ts";

describe("the words for a row", () => {
	const event = { event_type: "purchase.completed", event_id: "evt_01m8jycf6ce009vvvhmn4c4j8e" };

	it("name its order", () => {
		expect(rowWords({ ...event, order_id: "ord_3" }, "Chat")).toBe("purchase.completed (order ord_3) to Chat");
	});

	it("name its event if it has no order, and no webhook where all rows have the same", () => {
		expect(rowWords({ ...event, order_id: null })).toBe("purchase.completed (evt_01m8…4j8e)");
	});
});
