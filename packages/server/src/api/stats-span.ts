import type { StatsQuery } from "../storage/port.ts";

/** How many steps of which length a range has. */
const RANGES = {
	hour: { steps: 60, stepMs: 60_000 },
	day: { steps: 24, stepMs: 3_600_000 },
	month: { steps: 30, stepMs: 86_400_000 },
} as const;

export type StatsRangeName = keyof typeof RANGES;

export interface StatsSpan extends Pick<StatsQuery, "since" | "until" | "stepMs"> {
	readonly range: StatsRangeName;
}

/** The range that ends with the minute, hour or day (UTC) that is under way. */
export function statsSpan(range: StatsRangeName, now: number): StatsSpan {
	const { steps, stepMs } = RANGES[range];
	const until = (Math.floor(now / stepMs) + 1) * stepMs;
	return { range, stepMs, since: until - steps * stepMs, until };
}
