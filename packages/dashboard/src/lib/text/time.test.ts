import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
	aboutSpan,
	calendarDay,
	coarseSpan,
	dueWords,
	exactLocal,
	exactUtc,
	refreshAfter,
	shortTime,
	timeAgo,
	timeOfDay,
	timeUntil,
	timeUntilInWords,
} from "./time.ts";

const NOW = Date.parse("2026-11-21T14:02:11.123Z");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

it.each([
	[400, "about 1 second"],
	[10_000, "about 10 seconds"],
	[90_000, "about 2 minutes"],
	[6_510_000, "about 1 hour 50 minutes"],
	[2 * HOUR, "about 2 hours"],
	[27.4 * HOUR, "about 1 day 3 hours"],
])("describes %i ms as %s", (ms, words) => {
	expect(aboutSpan(ms)).toBe(words);
});

it("says when a retry is sent, and never that it was due in the past", () => {
	expect(dueWords(NOW + 30_000, NOW)).toBe("in 30 s");
	expect(dueWords(NOW, NOW)).toBe("being sent");
	expect(dueWords(NOW - 9_000, NOW)).toBe("being sent");
	expect(dueWords(NOW - 9_000, NOW, "paused")).toBe("when resumed");
	expect(dueWords(NOW - 9_000, NOW, "unsigned")).toBe("once it can be signed");
});

describe("timeAgo and timeUntil", () => {
	it.each([
		[-2_000, "just now", "just now"],
		[-45_000, "45 s ago", "45 s ago"],
		[-4 * MINUTE, "4 min ago", "4 min ago"],
		[-3 * HOUR, "3 h ago", "3 h ago"],
		[-12 * 24 * HOUR, "12 d ago", "12 d ago"],
		[1_000, "just now", "just now"],
		[3_000, "just now", "in 3 s"],
		[30_000, "just now", "in 30 s"],
		// Written while the service's clock was ahead, it was "just now" for as long as that.
		[2 * MINUTE, timeOfDay(NOW + 2 * MINUTE), "in 2 min"],
		// A moment after it was planned: these were "in 1 min", "in 14 min" and "in 6 d".
		[2 * MINUTE - 200, timeOfDay(NOW + 2 * MINUTE - 200), "in 2 min"],
		[15 * MINUTE - 200, timeOfDay(NOW + 15 * MINUTE - 200), "in 15 min"],
		[7 * 24 * HOUR - 200, calendarDay(NOW + 7 * 24 * HOUR - 200), "in 7 d"],
		[MINUTE - 200, "just now", "in 1 min"],
		[48 * HOUR - 200, calendarDay(NOW + 48 * HOUR - 200), "in 2 d"],
	])("%i ms from now was %s or will be %s", (ms, ago, until) => {
		expect(timeAgo(NOW + ms, NOW)).toBe(ago);
		expect(timeUntil(NOW + ms, NOW)).toBe(until);
	});

	// Which day that is depends on the zone.
	it("are the local day from 30 days on", () => {
		const [ago, until] = [NOW - 40 * 24 * HOUR, NOW + 40 * 24 * HOUR];
		expect(timeAgo(ago, NOW)).toBe(calendarDay(ago));
		expect(timeUntil(ago, NOW)).toBe(calendarDay(ago));
		expect(timeUntil(until, NOW)).toBe(calendarDay(until));
		expect(timeUntilInWords(until, NOW)).toBe(calendarDay(until));
		expect(calendarDay(new Date(2026, 11, 31, 23, 59).getTime())).toBe("31 Dec 2026");
	});

	it("never confuse past and future", () => {
		fc.assert(
			fc.property(fc.integer({ min: -29 * 24 * HOUR, max: 29 * 24 * HOUR }), (ms) => {
				expect(timeAgo(NOW + ms, NOW)).toMatch(ms <= -5_000 ? / ago$/ : ms < MINUTE ? /^just now$/ : /^\d/);
				const words = timeUntil(NOW + ms, NOW);
				expect(words.startsWith("in ")).toBe(ms > 1_000);
				expect(words.endsWith(" ago")).toBe(ms <= -5_000);
			}),
		);
	});
});

it.each([
	[7 * 24 * HOUR - 200, "in 7 days"],
	[48 * HOUR - 200, "in 2 days"],
	[HOUR, "in 1 hour"],
	[15 * MINUTE - 200, "in 15 minutes"],
	[3_000, "in 3 seconds"],
	[1_000, "just now"],
	[-45_000, "45 s ago"],
])("writes out in sentences what is %i ms from now: %s", (ms, words) => {
	expect(timeUntilInWords(NOW + ms, NOW)).toBe(words);
});

it("writes a span in one unit", () => {
	expect(coarseSpan(59_999)).toBe("59 s");
	expect(coarseSpan(47 * HOUR)).toBe("47 h");
	expect(coarseSpan(48 * HOUR)).toBe("2 d");
	expect(coarseSpan(200)).toBe("<1 s");
	expect(coarseSpan(-5 * MINUTE)).toBe("<1 s");
});

it("writes the exact time in UTC and locally, to the millisecond", () => {
	expect(exactUtc(NOW)).toBe("2026-11-21 14:02:11.123 UTC");
	expect(exactLocal(NOW)).toMatch(/^2[12] Nov 2026, \d\d:\d\d:11\.123 \(UTC([+−]\d{1,2}(:\d\d)?)?\)$/);
});

it("leaves the day out of today's times alone", () => {
	expect(shortTime(NOW, NOW)).toMatch(/^\d\d:\d\d$/);
	expect(shortTime(NOW - 50 * HOUR, NOW)).toMatch(/^\d+ Nov, \d\d:\d\d$/);
	expect(shortTime(NOW - 400 * 24 * HOUR, NOW)).toMatch(/^\d+ Oct 2025, \d\d:\d\d$/);
	expect(shortTime(NOW - 50 * HOUR, NOW, { seconds: true })).toMatch(/^\d+ Nov, \d\d:\d\d:11$/);
});

it("refreshes recent times every second and distant ones rarely", () => {
	expect(refreshAfter(NOW - 10_000, NOW)).toBe(1_000);
	expect(refreshAfter(NOW + 10 * MINUTE, NOW)).toBe(15_000);
	expect(refreshAfter(NOW - 5 * HOUR, NOW)).toBe(60_000);
});

it("refreshes a time to come when its last minute or hour begins", () => {
	// A page said "in 1 min" of a retry that its list had in 46 s.
	expect(refreshAfter(NOW + MINUTE + 4_000, NOW)).toBe(4_000);
	expect(refreshAfter(NOW + HOUR + 20_000, NOW)).toBe(20_000);
	expect(refreshAfter(NOW + MINUTE, NOW)).toBe(1_000);
	expect(refreshAfter(NOW - MINUTE - 4_000, NOW)).toBe(15_000);
});
