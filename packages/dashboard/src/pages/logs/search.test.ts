import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isFiltered, type LogsSearch, validateLogsSearch, without } from "./search.ts";

const FULL: LogsSearch = {
	webhook_id: "wh_01kbjh6mrxe3q8z1v2t4w5y6a7",
	type: "purchase.completed",
	status: "failed",
	event_id: "evt_my-own_id",
	since: "2026-11-21T14:00:00.000Z",
	until: "2026-11-21T15:00:00.000Z",
};

describe("validateLogsSearch", () => {
	it("keeps valid values", () => {
		expect(validateLogsSearch({ ...FULL })).toEqual(FULL);
		expect(validateLogsSearch({ span: "hour" })).toEqual({ span: "hour" });
		expect(validateLogsSearch({})).toEqual({});
	});

	it.each([
		{ webhook_id: 7 },
		{ webhook_id: "wh_ 1" },
		{ type: "Purchase" },
		{ type: "a.".repeat(200) },
		{ status: "lost" },
		{ event_id: "evt" },
		{ event_id: "evt_<b>" },
		{ since: "yesterday" },
		{ until: 12 },
		{ until: "12" },
		{ span: "toString" },
		{ page: 3 },
	])("drops %j", (search) => {
		expect(validateLogsSearch(search)).toEqual({});
	});

	it("prefers a span to two times", () => {
		expect(validateLogsSearch({ ...FULL, span: "day" })).not.toHaveProperty("since");
	});

	it("writes times in UTC", () => {
		expect(validateLogsSearch({ since: "2026-11-21T15:00:00+01:00" })).toEqual({ since: "2026-11-21T14:00:00.000Z" });
	});

	it("is idempotent for any input", () => {
		const anything = fc.dictionary(fc.constantFrom(...Object.keys(FULL), "span"), fc.anything());
		fc.assert(
			fc.property(anything, (search) => {
				const once = validateLogsSearch(search);
				expect(validateLogsSearch({ ...once })).toEqual(once);
			}),
		);
	});
});

it.each([
	["webhook_id", ["type", "status", "event_id", "since", "until"]],
	["time", ["webhook_id", "type", "status", "event_id"]],
] as const)("removes only the filter %s", (name, left) => {
	expect(Object.keys(without(FULL, name))).toEqual(left);
});

it("removes a span or two times", () => {
	expect(without({ span: "week", type: "purchase.completed" }, "time")).toEqual({ type: "purchase.completed" });
	expect(isFiltered(without({ span: "week" }, "time"))).toBe(false);
});
