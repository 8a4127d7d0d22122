import { expect, it } from "vitest";
import { byDay } from "./by-day.ts";
import { calendarDay } from "./time.ts";

it("groups items by local day and keeps their order", () => {
	const noon = new Date(2026, 10, 21, 12).getTime();
	const hour = 3_600_000;
	const times = [noon, noon - hour, noon - 24 * hour, noon - 72 * hour];
	expect(byDay(times, (at) => at, noon)).toEqual([
		{ label: "Today", items: [noon, noon - hour] },
		{ label: "Yesterday", items: [noon - 24 * hour] },
		{ label: calendarDay(noon - 72 * hour), items: [noon - 72 * hour] },
	]);
});
