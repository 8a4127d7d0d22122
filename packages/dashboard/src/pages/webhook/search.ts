import { isStatsRange, type StatsRange } from "../../api/stats.ts";

/** The tabs other than the activity. */
const TABS = ["verify", "settings"] as const;
type WebhookTab = (typeof TABS)[number];

export const isTab = (value: unknown): value is WebhookTab => TABS.some((tab) => tab === value);

/** What the address bar says about a webhook's page. */
export interface WebhookSearch {
	/** Activity by default. */
	readonly tab?: WebhookTab;
	/** A day by default. */
	readonly range?: StatsRange;
}

export function validateWebhookSearch({ tab, range }: Record<string, unknown>): WebhookSearch {
	return {
		...(isTab(tab) ? { tab } : {}),
		...(isStatsRange(range) && range !== "day" ? { range } : {}),
	};
}
