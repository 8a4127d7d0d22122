import type { StatsBucket, StatsRange } from "../../api/stats.ts";
import { formatAboutMs, formatCount } from "../../lib/text/numbers.ts";
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

/** A column of a chart's data: its name, and its value in a bucket. */
export type ChartColumn = readonly [name: string, value: (bucket: StatsBucket) => string];

/** The outcomes in a chart, in the order in which they are listed. */
export const OUTCOMES = [
	["delivered", "Delivered"],
	["retrying", "Retried"],
	["failed", "Failed"],
] as const;

export const OUTCOME_COLUMNS = OUTCOMES.map(
	([outcome, name]): ChartColumn => [name, (bucket) => formatCount(bucket[outcome])],
);

/** The response times in a chart: each as a line, which may be dashed. */
export const TIMES = [
	{ key: "p50_ms", name: "Median", stroke: "var(--ph-accent)", dashes: undefined },
	{ key: "p95_ms", name: "95th percentile", stroke: "var(--ph-waiting-fill)", dashes: "5 4" },
] as const;

export const TIME_COLUMNS = TIMES.map(({ key, name }): ChartColumn => [name, (bucket) => formatAboutMs(bucket[key])]);

export const RANGE_WORDS: Readonly<Record<StatsRange, { readonly label: string; readonly last: string }>> = {
	hour: { label: "Hour", last: "the last hour" },
	day: { label: "Day", last: "the last 24 hours" },
	month: { label: "Month", last: "the last 30 days" },
};
