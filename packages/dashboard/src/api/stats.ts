import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "./client/client.ts";
import { projectKey } from "./client/keys.ts";
import type { Schemas } from "./client/operation.ts";

/** The time range of statistics: 60 minutes, 24 hours or 30 days. */
export const STATS_RANGES = ["hour", "day", "month"] as const;
export type StatsRange = (typeof STATS_RANGES)[number];

export const isStatsRange = (value: unknown): value is StatsRange => STATS_RANGES.some((range) => range === value);

export type Stats = Schemas["Stats"];
export type StatsBucket = Stats["buckets"][number];

/** Time passes without any hint, so poll at this interval, in milliseconds. */
const REFRESH_MS = 60_000;

/** Statistics of a project or one of its webhooks. While a new range loads, the previous one stays visible. */
export const statsQuery = (projectId: string, { range, webhookId }: { range: StatsRange; webhookId?: string }) =>
	queryOptions({
		queryKey: projectKey(projectId, "stats", webhookId ?? null, range),
		queryFn: ({ signal }) =>
			api.get("/v1/projects/{project_id}/stats", {
				path: { project_id: projectId },
				query: { range, webhook_id: webhookId },
				signal,
			}),
		placeholderData: keepPreviousData,
		refetchInterval: REFRESH_MS,
	});
