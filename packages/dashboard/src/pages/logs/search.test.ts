import { EVENT_TYPES } from "@posthorn/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
	attemptFilter,
	deliveryFilter,
	fullFilters,
	isFiltered,
	type LogsSearch,
	lastAttemptFilter,
	maxValues,
	validateLogsSearch,
	valuesOf,
	viewOf,
	withoutTime,
	withUnhandled,
	withValue,
	withValues,
} from "./search.ts";

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

	it("keeps lists of valid values, and drops the others", () => {
		const lists = { webhook_id: "wh_1,wh_2", type: "purchase.completed,basket.abandoned", state: "failed,waiting" };
		const more = { response: "5xx,404,timeout", unhandled: true } as const;
		expect(validateLogsSearch({ ...lists, ...more })).toEqual({ ...lists, ...more });
		expect(validateLogsSearch({ webhook_id: "wh_1,<b>", state: "lost", response: "9,TIMEOUT", unhandled: 1 })).toEqual({
			webhook_id: "wh_1",
		});
		expect(validateLogsSearch({ order_id: 10482, customer_email: "ada@example.com" })).toEqual({
			...{ order_id: "10482", customer_email: "ada@example.com" },
		});
		expect(validateLogsSearch({ text: 12 })).toEqual({ text: "12" });
		expect(validateLogsSearch({ order_id: "", text: "x" })).toEqual({});
	});

	// They counted as filters, and the service refused their combination with the others.
	it("drops the filters of other views", () => {
		const others = { state: "failed,waiting", unhandled: true, webhook_id: "wh_1" };
		expect(validateLogsSearch({ ...others, status: "failed" })).toEqual({ webhook_id: "wh_1", status: "failed" });
		expect(validateLogsSearch({ ...others, view: "attempts" })).toEqual({ webhook_id: "wh_1", view: "attempts" });
		expect(validateLogsSearch({ ...others, status: "failed", text: "sold out" })).toEqual({ text: "sold out" });
		expect(validateLogsSearch(others)).toEqual(others);
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

it("removes a span or two times", () => {
	expect(withoutTime({ span: "week", type: "purchase.completed" })).toEqual({ type: "purchase.completed" });
	expect(Object.keys(withoutTime(FULL))).toEqual(["webhook_id", "type", "status", "event_id"]);
	expect(isFiltered(withoutTime({ span: "week" }))).toBe(false);
});

it("keeps values with commas and percent signs apart", () => {
	const values = ["a,b", "100%", "%2C", "c"];
	const search = validateLogsSearch({ ...withValues({}, "order_id", values) });
	expect(valuesOf(search, "order_id")).toEqual(values);
	expect(valuesOf(withValue(search, "order_id", "a,b"), "order_id")).toEqual(values);
	expect(withValues(search, "order_id", [])).toEqual({});
});

describe("the list of deliveries", () => {
	it("is shown unless attempts are requested", () => {
		expect(viewOf({})).toBe("deliveries");
		expect(viewOf({ webhook_id: "wh_1" })).toBe("deliveries");
		expect(viewOf({ view: "attempts" })).toBe("attempts");
		expect(viewOf({ status: "failed" })).toBe("attempts");
		expect(viewOf({ text: "sold out" })).toBe("text");
	});

	it("asks the API for one value or several", () => {
		expect(deliveryFilter({ webhook_id: "wh_1", response: "5xx,timeout", unhandled: true, span: "hour" })).toEqual({
			...{ webhook_id: ["wh_1"], status_code: ["5xx"], error: ["timeout"], span: "hour" },
			...{ state: ["failed"], unhandled: "true" },
		});
		expect(deliveryFilter({ webhook_id: "wh_1,wh_2", state: "failed" })).toEqual({
			...{ webhook_id: ["wh_1", "wh_2"], state: ["failed"] },
		});
		expect(attemptFilter({ order_id: "7", customer_email: "a@b.c", status: "failed", state: "waiting" })).toEqual({
			...{ order_id: ["7"], customer_email: ["a@b.c"], status: ["failed"] },
		});
		expect(attemptFilter({ test: false })).toEqual({ test: "false" });
		expect(deliveryFilter({ test: false })).toEqual({ test: "false" });
	});
});

// The list of what needs a decision had delivered ones, too.
it("lists failed deliveries only if they need a decision", () => {
	expect(deliveryFilter({ unhandled: true })).toEqual({ state: ["failed"], unhandled: "true" });
	expect(withUnhandled({ type: "a.b", state: "delivered" }, true)).toEqual({
		...{ type: "a.b", state: "failed", unhandled: true },
	});
	expect(withUnhandled({ state: "failed", unhandled: true }, false)).toEqual({ state: "failed" });
	expect(withValues({ state: "failed", unhandled: true }, "state", ["failed", "waiting"])).toEqual({
		state: "failed,waiting",
	});
	expect(withValues({ unhandled: true }, "webhook_id", ["wh_1"])).toEqual({ webhook_id: "wh_1", unhandled: true });
});

// From a list of delivered ones, it replayed failed ones.
it("acts on deliveries in the listed states only", () => {
	expect(lastAttemptFilter({ state: "delivered,waiting", type: "purchase.completed" })).toEqual({
		type: ["purchase.completed"],
		status: ["delivered", "retrying"],
	});
	expect(lastAttemptFilter({ unhandled: true })).toEqual({ status: ["failed"] });
	expect(lastAttemptFilter({})).toEqual({});
	// The API refuses too many combinations of webhooks, types and statuses. All states count as one for the list.
	expect(lastAttemptFilter({ state: "delivered,waiting,failed", webhook_id: "wh_1" })).toEqual({
		webhook_id: ["wh_1"],
	});
	expect(lastAttemptFilter({ view: "attempts", status: "failed" })).toEqual({ status: ["failed"] });
});

// The service refused the list, in words for programs.
describe("a filter by many webhooks, types and states", () => {
	const webhooks = (count: number) => Array.from({ length: count }, (_, n) => `wh_${n}`).join();
	const types = (count: number) =>
		EVENT_TYPES.slice(0, count)
			.map(({ type }) => type)
			.join();

	it("takes as many values as the API combines", () => {
		expect(maxValues({}, "webhook_id")).toBe(10);
		expect(maxValues({ webhook_id: webhooks(10) }, "type")).toBe(3);
		expect(maxValues({ webhook_id: webhooks(10), type: types(3) }, "state")).toBe(1);
		expect(maxValues({ type: types(9), state: "failed,waiting" }, "webhook_id")).toBe(1);
		expect(maxValues({ type: types(9), state: "failed,waiting,delivered" }, "webhook_id")).toBe(3);
		expect(maxValues({ view: "attempts", status: "failed,retrying,delivered" }, "webhook_id")).toBe(10);
		expect(maxValues({ view: "attempts", status: "failed,retrying,delivered" }, "type")).toBe(10);
		expect(maxValues({ webhook_id: webhooks(10), type: types(3) }, "response")).toBe(20);
	});

	it("is full once another value would be too many", () => {
		expect(fullFilters({ webhook_id: webhooks(9), type: types(2) })).toEqual([]);
		expect(fullFilters({ webhook_id: webhooks(9), type: types(3) })).toEqual(["type"]);
		expect(fullFilters({ webhook_id: webhooks(10), type: types(3) })).toEqual(["webhook_id", "type"]);
		expect(fullFilters({ webhook_id: webhooks(10) })).toEqual(["webhook_id"]);
		expect(fullFilters({ view: "attempts", status: "failed,delivered", type: types(9), webhook_id: "wh_1" })).toEqual([
			"webhook_id",
		]);
		expect(fullFilters({ state: "failed,waiting,delivered", type: types(9) })).toEqual([]);
	});

	it("loses its last values if the address bar has more", () => {
		expect(validateLogsSearch({ webhook_id: webhooks(12), type: types(9) })).toEqual({
			...{ webhook_id: webhooks(10), type: types(3) },
		});
		expect(validateLogsSearch({ webhook_id: webhooks(3), type: types(9), state: "failed,waiting,delivered" })).toEqual({
			...{ webhook_id: webhooks(3), type: types(9), state: "failed,waiting,delivered" },
		});
		const some = fc.integer({ min: 0, max: 12 });
		const states = fc.subarray(["failed", "waiting", "delivered"]);
		fc.assert(
			fc.property(some, some, states, fc.boolean(), (w, t, given, isOfAttempts) => {
				const status = given.map((state) => (state === "waiting" ? "retrying" : state)).join();
				const outcome = isOfAttempts ? { view: "attempts", status } : { state: given.join() };
				const search = validateLogsSearch({ webhook_id: webhooks(w), type: types(t), ...outcome });
				const all = { ...attemptFilter(search), ...(isOfAttempts ? {} : { status: lastAttemptFilter(search).status }) };
				const counts = [all.webhook_id, all.type, all.status].map((values) => Math.max(1, values?.length ?? 0));
				expect(counts.reduce((product, count) => product * count)).toBeLessThanOrEqual(30);
				expect(search.webhook_id === undefined).toBe(w === 0);
				expect(search.type === undefined).toBe(t === 0);
			}),
		);
	});
});
