import { queryOptions } from "@tanstack/react-query";
import { type AttemptFilter, attemptQuery, SPANS, type Span } from "./attempts.ts";
import { api } from "./client.ts";
import { isStatus } from "./error.ts";
import { projectKey, type Resource } from "./keys.ts";
import type { Schemas } from "./operation.ts";
import { pagedQuery } from "./pages.ts";
import { queryClient } from "./query-client.ts";

/** An event on its way to a webhook. */
export type Delivery = Schemas["Delivery"];

/** Identifies a delivery. */
export interface DeliveryId {
	readonly webhook_id: string;
	readonly event_id: string;
}

/** The maximum number of deliveries in one call. */
export const MAX_NAMED = 200;

/** A series of attempts, as a row of the list. */
export type DeliverySummary = Schemas["DeliverySummary"];

/** The list's filters, as the API expects them: values of one are alternatives. */
export interface DeliveryFilter {
	readonly webhook_id?: readonly string[];
	readonly type?: readonly string[];
	readonly state?: readonly DeliverySummary["state"][];
	readonly status_code?: readonly string[];
	readonly error?: readonly string[];
	readonly event_id?: string;
	readonly since?: string;
	readonly until?: string;
	/** The span before now; replaces `since` and `until`. */
	readonly span?: Span;
	/** Only what needs a decision. */
	readonly unhandled?: "true";
}

const LIST = "/v1/projects/{project_id}/deliveries";
const ROWS = 50;
const LATER_ROWS = 200;

/** The deliveries, newest first, page by page. */
export const deliveriesQuery = (projectId: string, { span, ...filter }: DeliveryFilter) => {
	const since = span === undefined ? {} : { since: new Date(Date.now() - SPANS[span]).toISOString() };
	return pagedQuery(
		projectKey(projectId, "deliveries", "list", { ...filter, ...(span === undefined ? {} : { span }) }),
		LIST,
		// Lists are sent separated by commas.
		{ path: { project_id: projectId }, query: { ...filter, ...since, limit: ROWS } as never },
		LATER_ROWS,
	);
};

const DELIVERY = "/v1/projects/{project_id}/webhooks/{webhook_id}/deliveries/{event_id}";
const REPLAYS = "/v1/projects/{project_id}/replays";

/** How often to poll a delivery until its first response, in addition to hints; in milliseconds. */
export const WATCH_MS = 1_000;

const pathOf = (projectId: string, { webhook_id, event_id }: DeliveryId) => ({
	project_id: projectId,
	webhook_id,
	event_id,
});

/** A delivery with its attempts, each of which is also cached separately; null if the delivery doesn't exist. */
export const deliveryQuery = (projectId: string, id: DeliveryId) =>
	queryOptions({
		queryKey: projectKey(projectId, "deliveries", id.webhook_id, id.event_id),
		queryFn: async ({ signal }) => {
			try {
				const delivery = await api.get(DELIVERY, { path: pathOf(projectId, id), signal });
				for (const attempt of delivery.attempts) {
					queryClient.setQueryData(attemptQuery(projectId, attempt.id).queryKey, attempt);
				}
				return delivery;
			} catch (error) {
				if (isStatus(error, 404)) return null;
				throw error;
			}
		},
	});

/** A delivery that was just started, polled until its first attempt has finished; null until it is known. */
export const watchedDeliveryQuery = (projectId: string, id: DeliveryId) => ({
	...deliveryQuery(projectId, id),
	refetchInterval: ({ state: { data } }: { state: { data: Delivery | null | undefined } }) =>
		(data?.attempts.length ?? 0) === 0 ? WATCH_MS : (false as const),
});

const TOUCHED: readonly Resource[] = ["attempts", "deliveries", "health", "waiting"];

function refresh(projectId: string): void {
	for (const resource of TOUCHED) void queryClient.invalidateQueries({ queryKey: projectKey(projectId, resource) });
}

/** Begins a new series of attempts. Throws ApiError, 409 while the delivery is still attempting. */
export async function replayDelivery(projectId: string, id: DeliveryId): Promise<void> {
	await api.post(`${DELIVERY}/replay`, { path: pathOf(projectId, id) });
	refresh(projectId);
}

export interface Replayed {
	readonly count: number;
	/** Those that can't be replayed or retried now: their state is another, or they no longer exist. */
	readonly skipped: number;
}

/** Begins new series of 1 to {@link MAX_NAMED} deliveries; those that can't be replayed are skipped. */
export async function replayDeliveries(projectId: string, deliveries: readonly DeliveryId[]): Promise<Replayed> {
	const path = { project_id: projectId };
	const { count, skipped = 0 } = await api.post(REPLAYS, { path, body: { deliveries } });
	refresh(projectId);
	return { count, skipped };
}

/** Marks a dead letter as needing no decision. Throws ApiError, 409 if it isn't one. */
export async function dismissDelivery(projectId: string, id: DeliveryId): Promise<void> {
	await api.post(`${DELIVERY}/dismiss`, { path: pathOf(projectId, id) });
	refresh(projectId);
}

/** The same for 1 to {@link MAX_NAMED} deliveries; others are skipped. */
export async function dismissDeliveries(projectId: string, deliveries: readonly DeliveryId[]): Promise<Replayed> {
	const path = { project_id: projectId };
	const { count, skipped = 0 } = await api.post("/v1/projects/{project_id}/dismissals", { path, body: { deliveries } });
	refresh(projectId);
	return { count, skipped };
}

/** Makes the pending attempt of a delivery now. Throws ApiError, 409 if none waits. */
export async function retryDelivery(projectId: string, id: DeliveryId): Promise<void> {
	await api.post(`${DELIVERY}/retry`, { path: pathOf(projectId, id) });
	refresh(projectId);
}

/** Makes all pending retries of a webhook now, and returns how many weren't due yet. */
export async function retryWebhook(projectId: string, webhookId: string): Promise<number> {
	const path = { project_id: projectId, webhook_id: webhookId };
	const { count } = await api.post("/v1/projects/{project_id}/webhooks/{webhook_id}/retry", { path });
	refresh(projectId);
	return count;
}

/** Makes the pending attempts of 1 to {@link MAX_NAMED} deliveries now; others are skipped. */
export async function retryDeliveries(projectId: string, deliveries: readonly DeliveryId[]): Promise<Replayed> {
	const path = { project_id: projectId };
	const result = await api.post("/v1/projects/{project_id}/retries", { path, body: { deliveries } });
	refresh(projectId);
	return result;
}

interface ReplayOptions {
	/** Only counts what would be replayed. */
	readonly dryRun: boolean;
	/** Called with the total after each step. */
	readonly onStep?: (count: number) => void;
	/** Aborts it between two steps; a count immediately. */
	readonly signal: AbortSignal;
}

/**
 * Replays (or counts) every delivery whose newest attempt matches a filter, oldest first, in steps that the service
 * limits, and returns how many there were. Throws ApiError; deliveries replayed before the error stay replayed.
 */
export async function replayMatching(
	projectId: string,
	filter: AttemptFilter,
	{ dryRun, onStep, signal }: ReplayOptions,
): Promise<number> {
	let count = 0;
	let next: { readonly cursor: string; readonly before: string } | null = null;
	try {
		do {
			const step: Schemas["Replays"] = await api.post(REPLAYS, {
				path: { project_id: projectId },
				body: { filter, ...(dryRun ? { dry_run: true } : {}), ...next },
				// The service finishes a step it has started. Its response says how far it came.
				...(dryRun ? { signal } : {}),
			});
			count += step.count;
			onStep?.(count);
			const { next_cursor = null, before } = step;
			next = next_cursor === null || before === undefined ? null : { cursor: next_cursor, before };
		} while (next !== null && !signal.aborted);
	} finally {
		if (!dryRun) refresh(projectId);
	}
	return count;
}
