import { isStatsRange, type StatsRange } from "../../api/stats.ts";

/** What the address bar says about a webhook's page. */
export interface WebhookSearch {
	/** Activity by default. */
	readonly tab?: "activity" | "settings";
	/** A day by default. */
	readonly range?: StatsRange;
}

export function validateWebhookSearch({ tab, range }: Record<string, unknown>): WebhookSearch {
	return {
		...(tab === "settings" ? { tab } : {}),
		...(isStatsRange(range) && range !== "day" ? { range } : {}),
	};
}
