import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "./client.ts";
import { projectKey } from "./keys.ts";

/** How far back figures reach: 60 minutes, 24 hours or 30 days. */
export const STATS_RANGES = ["hour", "day", "month"] as const;
export type StatsRange = (typeof STATS_RANGES)[number];

export const isStatsRange = (value: unknown): value is StatsRange => STATS_RANGES.some((range) => range === value);

interface Figures {
	/** Events published; 0 where the figures are of one webhook. */
	readonly events: number;
	/** Attempts by how they ended. */
	readonly delivered: number;
	readonly retrying: number;
	readonly failed: number;
	/** Response times in milliseconds; null without an attempt. */
	readonly p50_ms: number | null;
	readonly p95_ms: number | null;
}

export interface StatsBucket extends Figures {
	readonly at: string;
}

export interface Stats {
	readonly range: StatsRange;
	readonly step_ms: number;
	readonly since: string;
	readonly until: string;
	readonly buckets: readonly StatsBucket[];
	readonly total: Figures & { readonly success_rate: number | null };
}

/** Time moves on without any hint: ask again, in milliseconds. */
const REFRESH_MS = 60_000;

/** Figures of a project, or of one of its webhooks. While a new range loads, the one before stays. */
export const statsQuery = (projectId: string, { range, webhookId }: { range: StatsRange; webhookId?: string }) =>
	queryOptions({
		queryKey: projectKey(projectId, "stats", webhookId ?? null, range),
		queryFn: ({ signal }) =>
			api.get<Stats>("/v1/projects/{project_id}/stats", {
				path: { project_id: projectId },
				query: { range, webhook_id: webhookId },
				signal,
			}),
		placeholderData: keepPreviousData,
		refetchInterval: REFRESH_MS,
	});
