import type { StatsRange } from "../../api/stats.ts";
import { timeOfDay, utcOffset } from "../../lib/text/time.ts";

const UTC_DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** The label under a bar: the time of day or, for a month, the day, in UTC like the statistics. */
export function tickLabel(at: string, range: StatsRange): string {
	return range === "month" ? UTC_DAY.format(Date.parse(at)) : timeOfDay(Date.parse(at));
}

const HOUR_MS = 3_600_000;

/** Whether clocks change within an hour before or after that time, so that a time of day may be ambiguous. */
const isAtClockChange = (at: number) => [-HOUR_MS, HOUR_MS].some((ms) => utcOffset(at + ms) !== utcOffset(at));

/** A bar's time range: `14:00 to 15:00`; where clocks are set back, `02:00 (UTC+2) to 02:00 (UTC+1)`. */
export function bucketLabel(at: string, range: StatsRange, stepMs: number): string {
	if (range === "month") return `${tickLabel(at, range)} (UTC)`;
	const from = Date.parse(at);
	const ends = [from, from + stepMs];
	return ends
		.map(isAtClockChange(from) ? (end) => `${timeOfDay(end)} (${utcOffset(end)})` : (end) => timeOfDay(end))
		.join(" to ");
}

export const RANGE_WORDS: Readonly<Record<StatsRange, { readonly label: string; readonly last: string }>> = {
	hour: { label: "Hour", last: "the last hour" },
	day: { label: "Day", last: "the last 24 hours" },
	month: { label: "Month", last: "the last 30 days" },
};
