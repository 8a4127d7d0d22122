import type { StatsRange } from "../../api/stats.ts";
import { timeOfDay } from "../../lib/text/time.ts";

const UTC_DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** The label under a bar: the time of day or, for a month, the day, in UTC like the statistics. */
export function tickLabel(at: string, range: StatsRange): string {
	return range === "month" ? UTC_DAY.format(Date.parse(at)) : timeOfDay(Date.parse(at));
}

/** A bar's time range: `14:00 to 15:00`. */
export function bucketLabel(at: string, range: StatsRange, stepMs: number): string {
	if (range === "month") return `${tickLabel(at, range)} (UTC)`;
	return `${tickLabel(at, range)} to ${timeOfDay(Date.parse(at) + stepMs)}`;
}

export const RANGE_WORDS: Readonly<Record<StatsRange, { readonly label: string; readonly last: string }>> = {
	hour: { label: "Hour", last: "the last hour" },
	day: { label: "Day", last: "the last 24 hours" },
	month: { label: "Month", last: "the last 30 days" },
};
