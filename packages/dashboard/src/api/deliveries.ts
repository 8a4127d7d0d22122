import { queryOptions } from "@tanstack/react-query";
import {
	type AttemptFilter,
	attemptQuery,
	type CommonFilter,
	filterParams,
	MORE_ROWS,
	type Moving,
	ROWS,
} from "./attempts.ts";
import { api, callUrl } from "./client/client.ts";
import { ifStatus } from "./client/error.ts";
import { projectKey, type Resource } from "./client/keys.ts";
import type { Schemas } from "./client/operation.ts";
import { pagedQuery } from "./client/pages.ts";
import { queryClient } from "./client/query-client.ts";
import { whenItMay } from "./client/when-it-may.ts";

/** An event on its way to a webhook. */
export type Delivery = Schemas["Delivery"];

/** Identifies a delivery. */
export interface DeliveryId {
	readonly webhook_id: string;
	readonly event_id: string;
}

/** Tells deliveries apart. */
export const deliveryKey = ({ webhook_id, event_id }: DeliveryId) => `${webhook_id} ${event_id}`;

/** The maximum number of deliveries in one call. */
export const MAX_NAMED = 200;

/** A series of attempts, as a row of the list. */
export type DeliverySummary = Schemas["DeliverySummary"];

export type DeliveryFilter = CommonFilter & {
	readonly state?: readonly DeliverySummary["state"][];
	/** Only what needs a decision. */
	readonly unhandled?: "true";
	/** Without test events. */
	readonly test?: "false";
};

const LIST = "/v1/projects/{project_id}/deliveries";

/** The deliveries, newest first, page by page. */
export const deliveriesQuery = (projectId: string, filter: Moving<DeliveryFilter>) =>
	pagedQuery(
		projectKey(projectId, "deliveries", "list", filter),
		LIST,
		() => filterParams<DeliveryFilter>(projectId, filter, ROWS),
		MORE_ROWS,
	);

/** Where what a filter matches is downloaded. */
export const deliveriesExportUrl = (projectId: string, filter: Moving<DeliveryFilter>, format: "csv" | "jsonl") =>
	callUrl(`${LIST}/export.${format}`, filterParams<DeliveryFilter>(projectId, filter));

const DELIVERY = "/v1/projects/{project_id}/webhooks/{webhook_id}/deliveries/{event_id}";
const REPLAYS = "/v1/projects/{project_id}/replays";
const DISMISSALS = "/v1/projects/{project_id}/dismissals";

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
			const path = pathOf(projectId, id);
			const delivery = await api.get(DELIVERY, { path, signal }).catch(ifStatus(404, null));
			for (const attempt of delivery?.attempts ?? [])
				queryClient.setQueryData(attemptQuery(projectId, attempt.id).queryKey, attempt);
			return delivery;
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

/** The result of an action on several deliveries. */
export interface BulkResult {
	readonly count: number;
	/** Deliveries that it doesn't apply to, because of their state, or that no longer exist. */
	readonly skipped: number;
	/** Deliveries that weren't tried, because the service ran into an error at an earlier one. */
	readonly left?: number;
}

/** Begins new series of 1 to {@link MAX_NAMED} deliveries; those that can't be replayed are skipped. */
export async function replayDeliveries(projectId: string, deliveries: readonly DeliveryId[]): Promise<BulkResult> {
	const path = { project_id: projectId };
	const { count, skipped = 0, left = 0 } = await api.post(REPLAYS, { path, body: { deliveries } });
	refresh(projectId);
	return { count, skipped, left };
}

/** Marks a dead letter as needing no decision. Throws ApiError, 409 if it isn't one. */
export async function dismissDelivery(projectId: string, id: DeliveryId): Promise<void> {
	await api.post(`${DELIVERY}/dismiss`, { path: pathOf(projectId, id) });
	refresh(projectId);
}

/** The same for 1 to {@link MAX_NAMED} deliveries; others are skipped. */
export async function dismissDeliveries(projectId: string, deliveries: readonly DeliveryId[]): Promise<BulkResult> {
	const path = { project_id: projectId };
	const { count, skipped = 0 } = await api.post(DISMISSALS, { path, body: { deliveries } });
	refresh(projectId);
	return { count, skipped };
}

/** Makes the pending attempt of a delivery now. Throws ApiError, 409 if none waits. */
export async function retryDelivery(projectId: string, id: DeliveryId): Promise<void> {
	await api.post(`${DELIVERY}/retry`, { path: pathOf(projectId, id) });
	refresh(projectId);
}

/** Cancels a test event that waits. Throws ApiError, 409 if none waits. */
export async function cancelTest(projectId: string, id: DeliveryId): Promise<void> {
	await api.post(`${DELIVERY}/cancel`, { path: pathOf(projectId, id) });
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
export async function retryDeliveries(projectId: string, deliveries: readonly DeliveryId[]): Promise<BulkResult> {
	const path = { project_id: projectId };
	const result = await api.post("/v1/projects/{project_id}/retries", { path, body: { deliveries } });
	refresh(projectId);
	return result;
}

interface StepOptions {
	/** Called with the total after each step. */
	readonly onStep?: (count: number) => void;
	/** Aborts it between two steps; a count immediately. */
	readonly signal: AbortSignal;
}

/** What a replay would send. */
export interface Counted {
	readonly count: number;
	/** Most first. */
	readonly groups: readonly { readonly webhook_id: string; readonly type: string; readonly count: number }[];
	/** When the last attempts of the first and last of them started; null if there are none. */
	readonly oldestAt: string | null;
	readonly newestAt: string | null;
	/** When it was counted. Later attempts aren't replayed; undefined if the service doesn't say. */
	readonly before: string | undefined;
}

/** A step of something that the service does in steps of limited size. */
interface Step {
	readonly count: number;
	/** What the next call sends; null after the last step. */
	readonly next: Readonly<Record<string, string>> | null;
}

/**
 * Runs the steps one after the other and returns how many deliveries they changed or counted. Waits when the service asks
 * for it. Throws ApiError; earlier steps stay done.
 */
async function inSteps(
	run: (next: Step["next"]) => Promise<Step>,
	{ onStep, signal }: StepOptions,
	first: Step["next"] = null,
): Promise<number> {
	let count = 0;
	let next = first;
	do {
		const step = await whenItMay(() => run(next), signal);
		if (step === null) break;
		count += step.count;
		onStep?.(count);
		next = step.next;
	} while (next !== null && !signal.aborted);
	return count;
}

const nextOf = ({ next_cursor, before }: Schemas["Replays"]): Step["next"] =>
	next_cursor == null || before === undefined ? null : { cursor: next_cursor, before };

type GivenFilter = NonNullable<Schemas["ReplaysRequest"]["filter"]>;

/** The lists of the API's types are changeable. */
const given = (filter: AttemptFilter): GivenFilter => filter as GivenFilter;

/** Counts the deliveries that have ended and whose newest attempt matches a filter. */
export async function countMatching(projectId: string, filter: AttemptFilter, options: StepOptions): Promise<Counted> {
	const groups = new Map<string, { webhook_id: string; type: string; count: number }>();
	let oldestAt: string | null = null;
	let newestAt: string | null = null;
	let before: string | undefined;
	const count = await inSteps(async (next) => {
		const step = await api.post(REPLAYS, {
			path: { project_id: projectId },
			body: { filter: given(filter), dry_run: true, ...next },
			signal: options.signal,
		});
		for (const { webhook_id, type, count } of step.groups ?? []) {
			const key = `${webhook_id} ${type}`;
			groups.set(key, { webhook_id, type, count: count + (groups.get(key)?.count ?? 0) });
		}
		oldestAt ??= step.oldest_at ?? null;
		newestAt = step.newest_at ?? newestAt;
		before ??= step.before;
		return { count: step.count, next: nextOf(step) };
	}, options);
	return { count, groups: [...groups.values()].sort((a, b) => b.count - a.count), oldestAt, newestAt, before };
}

/** Replays every delivery that {@link countMatching} has counted, oldest first. A step that has begun is finished. */
export async function replayMatching(
	projectId: string,
	filter: AttemptFilter,
	{ counted: { before }, ...options }: StepOptions & { readonly counted: Pick<Counted, "before"> },
): Promise<number> {
	const run = async (next: Step["next"]) => {
		const body = { filter: given(filter), ...next };
		const step = await api.post(REPLAYS, { path: { project_id: projectId }, body });
		return { count: step.count, next: nextOf(step) };
	};
	try {
		return await inSteps(run, options, before === undefined ? null : { before });
	} finally {
		refresh(projectId);
	}
}

/** Failed deliveries to dismiss. */
export type DismissalFilter = CommonFilter;

/** Dismisses every failed delivery that matches and needs a decision, newest first. A step that has begun is finished. */
export async function dismissMatching(
	projectId: string,
	filter: DismissalFilter,
	options: StepOptions,
): Promise<number> {
	try {
		return await inSteps(async (next) => {
			const body = { filter: given(filter), ...next };
			const { count, next_cursor } = await api.post(DISMISSALS, { path: { project_id: projectId }, body });
			return { count, next: next_cursor == null ? null : { cursor: next_cursor } };
		}, options);
	} finally {
		refresh(projectId);
	}
}
