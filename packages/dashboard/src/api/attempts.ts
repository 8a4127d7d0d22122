import { queryOptions } from "@tanstack/react-query";
import type { AttemptStatus } from "../lib/attempts/attempt-words.ts";
import { serverNow } from "../lib/text/server-time.ts";
import { api, callUrl } from "./client/client.ts";
import { projectKey } from "./client/keys.ts";
import type { Schemas } from "./client/operation.ts";
import { pagedQuery } from "./client/pages.ts";
import type { EventType } from "./model.ts";

/** An attempt without its headers and bodies. */
export type AttemptSummary = Schemas["AttemptSummary"];
/** The same with its event's order. */
export type ListedAttempt = Schemas["ListedAttempt"];
export type Attempt = Schemas["Attempt"];

/** Time spans that end now, in milliseconds. */
const SPANS = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;
export type Span = keyof typeof SPANS;

export const isSpan = (value: unknown): value is Span => typeof value === "string" && Object.hasOwn(SPANS, value);

/**
 * The filters that attempts and deliveries share, as the API expects them. Values of one list are alternatives. A type
 * instead of an interface, so that it can be a call's `query`.
 */
export type CommonFilter = {
	readonly webhook_id?: readonly string[];
	readonly type?: readonly EventType[];
	/** Status codes and error codes: one of either matches. */
	readonly status_code?: readonly string[];
	readonly error?: readonly string[];
	readonly event_id?: string;
	readonly order_id?: readonly string[];
	readonly customer_email?: readonly string[];
	/** From this time on, and before this time, in ISO 8601. */
	readonly since?: string;
	readonly until?: string;
};

export type AttemptFilter = CommonFilter & {
	readonly status?: readonly AttemptStatus[];
	/** Without test events, as the statistics are. */
	readonly test?: "false";
};

/** A filter with a span before now, which replaces `since` and `until`. */
export type Moving<Filter> = Filter & { readonly span?: Span };

export type LogFilter = Moving<AttemptFilter>;

/** How much of the log a filter by order id or customer has searched. */
export type Searched = Schemas["SearchedEvents"];

/** How often to ask again while events are being indexed, in milliseconds. */
export const INDEXING_MS = 2_000;

interface SearchedPages {
	readonly pages: readonly { readonly searched?: Searched }[];
}

/** What the newest page says about it. */
export const searchedOf = (data: SearchedPages | undefined): Searched | null => data?.pages[0]?.searched ?? null;

/** How often to refetch a list of a span, in milliseconds: rows leave it even if nothing new arrives. */
const MOVING_MS = 60_000;

/** When to refetch a list: until everything is indexed, and regularly if it moves with time. */
export const askAgain =
	({ span }: { readonly span?: Span }) =>
	({ state: { data } }: { state: { data: SearchedPages | undefined } }): number | false =>
		searchedOf(data)?.complete === false ? INDEXING_MS : span === undefined ? false : MOVING_MS;

const ATTEMPTS = "/v1/projects/{project_id}/attempts";
/** The first page fills a screen. Users who want more want many. */
export const ROWS = 50;
export const MORE_ROWS = 200;

/** How often to count again during live updates, in milliseconds; hints arrive far more often. */
const RECOUNT_MS = 10_000;

/** A filter's bounds at `now`, in milliseconds since 1970. */
export function fixedFilter<Filter extends CommonFilter>({ span, ...filter }: Moving<Filter>, now: number) {
	return (span === undefined ? filter : { ...filter, since: new Date(now - SPANS[span]).toISOString() }) as Filter;
}

/** The parameters of a call with a filter, whose span ends now. */
export const filterParams = <Filter extends CommonFilter>(
	projectId: string,
	filter: Moving<Filter>,
	limit?: number,
) => ({
	path: { project_id: projectId },
	query: { ...fixedFilter<Filter>(filter, serverNow()), limit },
});

/** The log, newest first, page by page. */
export const attemptsQuery = (projectId: string, filter: LogFilter) =>
	pagedQuery(
		projectKey(projectId, "attempts", "list", filter),
		`${ATTEMPTS}/summaries`,
		() => filterParams(projectId, filter, ROWS),
		MORE_ROWS,
	);

/** The newest entries of the log, one page by default. */
export const newestAttemptsQuery = (projectId: string, filter: LogFilter, limit = ROWS) =>
	queryOptions({
		queryKey: projectKey(projectId, "attempts", "newest", filter, limit),
		queryFn: async ({ signal }) =>
			(await api.get(`${ATTEMPTS}/summaries`, { ...filterParams(projectId, filter, limit), signal })).data,
	});

/** Where what a filter matches is downloaded. */
export const attemptsExportUrl = (projectId: string, filter: LogFilter, format: "csv" | "jsonl") =>
	callUrl(`${ATTEMPTS}/export.${format}`, filterParams<AttemptFilter>(projectId, filter));

export type AttemptCount = Schemas["AttemptCount"];

/** How many entries a filter matches. Hints don't refresh it; while `live`, a timer does. */
export const attemptCountQuery = (projectId: string, filter: LogFilter, live: boolean) =>
	queryOptions({
		queryKey: projectKey(projectId, "attempts", "count", filter),
		queryFn: ({ signal }) => api.get(`${ATTEMPTS}/count`, { ...filterParams(projectId, filter), signal }),
		staleTime: "static",
		refetchInterval: live ? RECOUNT_MS : false,
	});

/** A log entry with its request and response. It never changes. */
export const attemptQuery = (projectId: string, attemptId: string) =>
	queryOptions({
		queryKey: projectKey(projectId, "attempts", "one", attemptId),
		queryFn: ({ signal }) =>
			api.get(`${ATTEMPTS}/{attempt_id}`, {
				path: { project_id: projectId, attempt_id: attemptId },
				signal,
			}),
		staleTime: "static",
	});

/** What a receiver saw and computed for a request. */
export type SignatureSeen = Schemas["SignatureSeen"];
export type Diagnosis = Schemas["SignatureDiagnosis"];

/** Finds out why a receiver refuses the signature of a request. */
export const checkSignature = (projectId: string, attemptId: string, seen: SignatureSeen): Promise<Diagnosis> =>
	api.post(`${ATTEMPTS}/{attempt_id}/signature-check`, {
		path: { project_id: projectId, attempt_id: attemptId },
		body: seen,
	});
