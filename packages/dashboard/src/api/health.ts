import { queryOptions } from "@tanstack/react-query";
import type { AttemptSummary } from "./attempts.ts";
import { api } from "./client.ts";
import { projectKey } from "./keys.ts";

export type WebhookState = "paused" | "failing" | "healthy" | "idle";

/** The attempts of an hour by how they ended. */
export interface HourOfOutcomes {
	readonly at: string;
	readonly delivered: number;
	readonly retrying: number;
	readonly failed: number;
}

/** How a webhook does: its state, what waits, and its last day. */
export interface Health {
	readonly webhook_id: string;
	readonly state: WebhookState;
	readonly last_attempt: AttemptSummary | null;
	/** The first attempt after the last delivered one, while the webhook is failing. */
	readonly failing_since: AttemptSummary | null;
	readonly last_delivered_at: string | null;
	/** Retries and replays that wait for their time. */
	readonly waiting: { readonly count: number; readonly next_at: string | null };
	/** Deliveries that failed and were not replayed since. */
	readonly dead_letters: number;
	readonly backlog: { readonly events: number; readonly oldest_at: string | null };
	readonly day: {
		readonly delivered: number;
		readonly retrying: number;
		readonly failed: number;
		/** A share of 1, null without attempts. */
		readonly success_rate: number | null;
		readonly p95_ms: number | null;
	};
	/** The last 24 hours, oldest first. */
	readonly hours: readonly HourOfOutcomes[];
}

/** A retry or a replay that waits for its time. */
export interface Waiting {
	readonly webhook_id: string;
	readonly event_id: string;
	readonly event_type: string;
	readonly queue: "retry" | "replay";
	readonly attempt: number;
	readonly replay: number;
	readonly due_at: string;
}

const PROJECT = "/v1/projects/{project_id}";
/** Hours pass without any hint: ask again, in milliseconds. */
const REFRESH_MS = 60_000;

/** The health of all webhooks of a project. */
export const healthQuery = (projectId: string) =>
	queryOptions({
		queryKey: projectKey(projectId, "health"),
		queryFn: async ({ signal }) => {
			const path = { project_id: projectId };
			return (await api.get<{ data: readonly Health[] }>(`${PROJECT}/webhooks/health`, { path, signal })).data;
		},
		refetchInterval: REFRESH_MS,
	});

/** What waits for its time, soonest first; of one webhook or of the project. */
export const waitingQuery = (projectId: string, { webhookId, limit }: { webhookId?: string; limit: number }) =>
	queryOptions({
		queryKey: projectKey(projectId, "waiting", webhookId ?? null, limit),
		queryFn: async ({ signal }) => {
			const path = { project_id: projectId };
			const query = { webhook_id: webhookId, limit };
			return (await api.get<{ data: readonly Waiting[] }>(`${PROJECT}/waiting`, { path, query, signal })).data;
		},
	});
