import { describe, expect, it } from "vitest";
import { shortTime } from "../../../lib/text/time.ts";
import type { LogsSearch } from "../search.ts";
import { filterChips, logSentence } from "./filter-words.ts";

const NOW = new Date(2026, 10, 21, 14, 2, 11).getTime();
const SINCE = "2026-11-20T08:00:00.000Z";
const UNTIL = "2026-11-20T09:30:00.000Z";
/** A local time in November 2026. */
const local = (day: number, hour: number, minute = 0) => new Date(2026, 10, day, hour, minute).toISOString();
const time = (iso: string) => shortTime(Date.parse(iso), NOW);
const nameOf = (id: string) => (id === "wh_1" ? "Accounting" : "a deleted webhook");
const many = { count: 312, capped: false };
const sentence = (search: LogsSearch, count: { count: number; capped: boolean } = many) =>
	logSentence(search, count, nameOf, NOW);

describe("logSentence", () => {
	it.each<[LogsSearch, string]>([
		[{}, "312 attempts in the log, newest first."],
		[{ span: "hour" }, "312 attempts in the last hour."],
		[{ status: "failed" }, "312 attempts that failed for good."],
		[
			{ status: "failed", webhook_id: "wh_1", type: "purchase.completed", span: "day" },
			"312 attempts of purchase.completed to Accounting that failed for good, in the last 24 hours.",
		],
		[
			{ event_id: "evt_01kbjh6mrxe3q8z1v2t4w5y6a7", status: "retrying" },
			"312 attempts of event evt_01kb…y6a7 that failed and were due for a retry.",
		],
		[{ webhook_id: "wh_2", since: SINCE }, `312 attempts to a deleted webhook, since ${time(SINCE)}.`],
		[{ since: local(20, 8), until: local(20, 9, 30) }, "312 attempts from 20 Nov, 08:00 to 09:30."],
		// A bar of a day in UTC ended "from 20 Nov, 14:00 to 14:00".
		[{ since: local(20, 14), until: local(21, 14) }, "312 attempts from 20 Nov, 14:00 to 21 Nov, 14:00."],
		[{ since: local(21, 8), until: local(21, 9) }, "312 attempts from 08:00 to 09:00."],
		[
			{ webhook_id: "wh_1,wh_2", status: "failed,retrying", response: "5xx,timeout" },
			"312 attempts to Accounting or a deleted webhook that failed for good or that failed and were due for a retry that ended with 5xx or timeout.",
		],
		// It said "function Object()".
		[{ response: "constructor" }, "312 attempts that ended with constructor."],
		[{ order_id: "7,8", customer_email: "a@b.c" }, "312 attempts of order 7 or 8 of a@b.c."],
		[{ order_id: "7\u202e", customer_email: "\u2066a" }, "312 attempts of order 7⟨U+202E⟩ of ⟨U+2066⟩a."],
		[{ until: UNTIL }, `312 attempts before ${time(UNTIL)}.`],
		[{ test: false, since: SINCE }, `312 attempts since ${time(SINCE)}, without tests.`],
		[
			{ test: false, webhook_id: "wh_1", status: "failed" },
			"312 attempts to Accounting that failed for good, without tests.",
		],
	])("of %j", (search, words) => {
		expect(sentence(search)).toBe(words);
	});

	it.each([
		[{}, { count: 0, capped: false }, "The log is empty."],
		[{ span: "week" }, { count: 0, capped: false }, "No attempt in the last 7 days."],
		[{ span: "week" }, { count: 1, capped: false }, "1 attempt in the last 7 days."],
		[{}, { count: 10_000, capped: true }, "10,000 or more attempts in the log, newest first."],
		[{ status: "delivered" }, { count: 1_234, capped: false }, "1,234 attempts that delivered their event."],
	] as const)("of %j with %j", (search, count, words) => {
		expect(sentence(search, count)).toBe(words);
	});
});

it("has a chip for each value that has no field", () => {
	const search: LogsSearch = {
		status: "retrying",
		event_id: "evt_short",
		order_id: "7,a%2Cb",
		customer_email: "a@b.c",
	};
	expect(filterChips(search)).toEqual([
		{ label: "Event evt_short", without: { status: "retrying", order_id: "7,a%2Cb", customer_email: "a@b.c" } },
		{ label: "Order 7", without: { ...search, order_id: "a%2Cb" } },
		{ label: "Order a,b", without: { ...search, order_id: "7" } },
		{ label: "a@b.c", without: { status: "retrying", event_id: "evt_short", order_id: "7,a%2Cb" } },
	]);
	expect(filterChips({})).toEqual([]);
});
