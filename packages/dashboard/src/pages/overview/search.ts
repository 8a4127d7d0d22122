import { isStatsRange, type StatsRange } from "../../api/stats.ts";

/** What the address bar says about the overview. */
export interface OverviewSearch {
	/** A day by default. */
	readonly range?: StatsRange;
}

export function validateOverviewSearch({ range }: Record<string, unknown>): OverviewSearch {
	return isStatsRange(range) && range !== "day" ? { range } : {};
}
