import { EVENT_TYPES } from "@posthorn/protocol";
import { describe, expect, it } from "vitest";
import { groupEventTypes, inCatalogueOrder } from "./event-groups.ts";

describe("event groups", () => {
	it("contain every type of the catalogue once, and each group has a display name", () => {
		const groups = groupEventTypes(EVENT_TYPES);
		const types = groups.flatMap(({ entries }) => entries.map(({ type }) => type));
		expect(types.toSorted()).toEqual(EVENT_TYPES.map(({ type }) => type).toSorted());
		for (const { name } of groups) expect(name).toMatch(/^[A-Z]/);
		expect(groups.find(({ name }) => name === "Purchases")?.entries.map(({ type }) => type)).toEqual([
			"purchase.completed",
			"purchase.refunded",
		]);
	});

	it("accept unknown kinds", () => {
		expect(groupEventTypes([{ type: "stock.low" }])).toEqual([{ name: "stock", entries: [{ type: "stock.low" }] }]);
	});

	it("put a choice in the catalogue's order", () => {
		const chosen = new Set(["purchase.refunded", "customer.created", "gone.type"]);
		expect(inCatalogueOrder(EVENT_TYPES, chosen)).toEqual(["customer.created", "purchase.refunded"]);
	});
});
