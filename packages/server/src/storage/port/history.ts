import type { AttemptStatus, NewAttempt, Retry } from "./delivery.ts";
import type { Excerpt, ReadLimit } from "./log.ts";
import type { ProjectRef } from "./registry.ts";

/** An entry of the delivery log with the event that it delivered. */
export interface Attempt extends NewAttempt {
	readonly eventId: string;
	/** The exact bytes that were sent: the event's envelope. */
	readonly requestBody: Uint8Array;
}

/** Conditions combine; the values of one list are alternatives, and an empty list matches nothing. */
export interface AttemptFilter {
	readonly webhookIds?: readonly string[] | undefined;
	readonly types?: readonly string[] | undefined;
	readonly statuses?: readonly AttemptStatus[] | undefined;
	readonly eventId?: string | undefined;
	/** Events by their numbers, newest first. */
	readonly seqs?: readonly number[] | undefined;
	/** Attempts of `seqs` beyond this many, of any webhook and counted from the first event on, may be left out. */
	readonly maxAttempts?: number | undefined;
	/** Bounds on the attempt's start, milliseconds since the Unix epoch: from `since`, before `until`. */
	readonly since?: number | undefined;
	readonly until?: number | undefined;
	readonly response?: ResponseFilter | undefined;
}

/** Represents a missing response among status codes. */
export const NO_RESPONSE = 0;

/** Status codes from `from` to `to`, both included. */
export interface CodeRange {
	readonly from: number;
	readonly to: number;
}

/** Any status code, or none. */
export const ANY_RESPONSE: readonly CodeRange[] = [{ from: NO_RESPONSE, to: 999 }];

/**
 * Filters by response and leaves out tests, which no index can: a call scans up to `maxScanned` of the attempts that match
 * the other conditions.
 */
export interface ResponseFilter {
	/** Attempts match whose status code is in one of these, … */
	readonly codes: readonly CodeRange[];
	/** … or whose error code is one of these. */
	readonly errors?: readonly string[];
	/** Whether those of test events don't match. */
	readonly withoutTests?: boolean;
	/** At least 1. */
	readonly maxScanned: number;
}

export function fitsResponse(
	{ codes, errors = [], withoutTests = false }: ResponseFilter,
	{ seq, statusCode, errorCode }: Pick<AttemptSummary, "seq" | "statusCode" | "errorCode">,
): boolean {
	if (withoutTests && seq < 0) return false;
	const code = statusCode ?? NO_RESPONSE;
	return codes.some(({ from, to }) => from <= code && code <= to) || (errorCode !== null && errors.includes(errorCode));
}

interface Page {
	readonly limit: number;
	/** The `next` of the previous page. */
	readonly before?: string | undefined;
}

export interface AttemptPage extends Page {
	/** The page ends early, after at least one row, rather than hold more bytes of bodies than this. */
	readonly maxBytes: number;
}

/** A page of entries with what has become of them. */
export interface ListPage extends Page {
	/** Also reads the order ids of events of at most this many bytes. */
	readonly orderIdBytes?: number | undefined;
}

/** A page of the delivery log, newest first. */
export interface AttemptRows<Row> {
	/** With a {@link ResponseFilter}, a page may have fewer rows than requested, or none, and still not be the last. */
	readonly rows: Row[];
	/** The attempt id to continue before, or null on the last page. */
	readonly next: string | null;
}

export type DeliveryState = "attempting" | "delivered" | "dead_lettered";

export interface Delivery {
	readonly state: DeliveryState;
	/** The attempt that is pending or in flight, or the last one made. */
	readonly attempt: number;
	readonly replay: number;
	readonly nextRetryAt: number | null;
	/** Whether it is a dead letter that was dismissed. */
	readonly dismissed: boolean;
	/** The newest 200 attempts of all series, in the order in which they were made. */
	readonly attempts: readonly Attempt[];
}

/** An entry of the log, and what has become of its delivery since. For a delivered one, only what a list has. */
export interface FollowedAttempt extends AttemptSummary {
	/** Its event's; null if that has none, is a test event or has too many bytes. Absent unless a page asks for it. */
	readonly orderId?: string | null;
	/** Whether a later attempt of the same delivery, in any series, is in the log. */
	readonly isFollowed: boolean;
	/** Whether it is a dead letter that was dismissed. */
	readonly dismissed: boolean;
	readonly webhookDeleted: boolean;
	/** The pending attempt of a retry or replay of the delivery; null if there is none. */
	readonly next: Pick<Retry, "replay" | "dueAt"> | null;
}

/** How far an event's deliveries to a webhook have come. */
export interface LatestAttempt {
	/** The newest attempt in the log; null if there is none. */
	readonly newest: Omit<AttemptSummary, "eventId" | "eventType"> | null;
	/** Whether it is a dead letter that was dismissed. */
	readonly dismissed: boolean;
	/** The pending attempt of a retry or replay; null if there is none. */
	readonly next: Pick<Retry, "attempt" | "replay" | "dueAt"> | null;
}

/**
 * Reads of the delivery log. Every filter is a union of index ranges, of which a bounded part is read, so a page costs
 * the same at any size of the log.
 */
export interface HistoryStorage {
	/** Newest first, by attempt id. */
	listAttempts(
		p: ProjectRef & { readonly filter: AttemptFilter; readonly page: AttemptPage },
	): Promise<AttemptRows<Attempt>>;
	getAttempt(p: ProjectRef & { readonly attemptId: string }): Promise<Attempt | null>;
	/**
	 * Searches recorded responses for a text, from before the attempt `before` (or from the end) backwards. Those of test
	 * events are left out.
	 *
	 * @param limit attempts instead of events
	 */
	searchResponses(
		p: ProjectRef & { readonly text: string; readonly before: string | null; readonly limit: ReadLimit },
	): Promise<ResponseStep>;
}

export interface FoundResponse extends Excerpt {
	readonly attempt: AttemptSummary;
	/** When its event was generated; milliseconds since the Unix epoch. */
	readonly createdAt: number;
}

/** One step of a search through the recorded responses of the delivery log, newest first. */
export interface ResponseStep {
	readonly found: readonly FoundResponse[];
	readonly attempts: number;
	/** When the oldest attempt that was read started; null if none was. */
	readonly reached: number | null;
	/** Continue before this attempt id; null at the beginning of the log. */
	readonly next: string | null;
}

/** The result of a step of the retention sweep. */
export interface SweepStep {
	readonly deleted: number;
	/** Where to continue, or null at the end of the pass. */
	readonly next: number | null;
}

export interface EventSweepStep extends SweepStep {
	/**
	 * Projects with events past retention that were never attempted, or whose next attempt has been due since before
	 * `cutoff`. Their alarm was set, so that these are dead-lettered.
	 */
	readonly unattempted: readonly string[];
}

/** A step of a pass: deletes what is older than `cutoff`, and scans at most `limit` rows. */
export interface Sweep {
	readonly cutoff: number;
	readonly limit: number;
	/** 0 begins a pass; otherwise the `next` of the previous step. */
	readonly from: number;
	/** Rows dated later were written while a clock was ahead: their order says nothing, so they don't end the pass. */
	readonly latest?: number;
	/** The trusted time, which decides when counts of minutes expire; by default, the node's clock. */
	readonly now?: number;
}

export interface RetentionStorage {
	/** Deletes attempts that began before `cutoff`. */
	sweepAttempts(p: Sweep): Promise<SweepStep>;
	/**
	 * Deletes events appended before `cutoff` that no lane has yet to attempt, and that no attempt or retry refers to.
	 */
	sweepEvents(p: Sweep): Promise<EventSweepStep>;
}

export interface Gauges {
	readonly projects: number;
	readonly webhooks: number;
	/** Deliveries pending their first attempt, of all webhooks. */
	readonly backlog: number;
	/** How many of them are for paused webhooks. */
	readonly pausedBacklog: number;
	/** When the event of the oldest one for an active webhook was published; null if there is none. */
	readonly oldestAt: number | null;
	readonly retriesWaiting: number;
	/** Deliveries in the log whose last series failed and that haven't been replayed or dismissed since, without tests. */
	readonly deadLetters: number;
}

/** An entry of the delivery log without its bodies and headers: a row of a list. */
export type AttemptSummary = Omit<Attempt, "requestBody" | "responseBody" | "responseTruncated" | "details" | "sent">;

/** Attempts by outcome, and receivers' response times. Those of test events don't count. */
export interface AttemptCounts {
	readonly delivered: number;
	readonly retrying: number;
	readonly failed: number;
	/** How many of the failed ones were deliveries closed without a request. */
	readonly closed: number;
	/**
	 * Response times of attempts that were sent, milliseconds (nearest rank); null if there are none. Approximate:
	 * within a tenth, or a millisecond.
	 */
	readonly p50Ms: number | null;
	readonly p95Ms: number | null;
}

export interface StatsBucket extends AttemptCounts {
	/** Its start, milliseconds since the Unix epoch: a multiple of the step. */
	readonly at: number;
	/** Events appended to the project's log in this time; 0 if the query is for one webhook. */
	readonly events: number;
}

export interface StatsQuery {
	readonly webhookId?: string | undefined;
	/**
	 * Multiples of the step, at most 400 buckets apart. Bounds on the attempts' start: from `since`, before `until`.
	 */
	readonly since: number;
	readonly until: number;
	/** A whole number of minutes. Steps of whole hours reach as far as the log's retention, others back 48 hours. */
	readonly stepMs: number;
}

export interface Stats {
	/** Every bucket from `since` to `until`, empty ones included. */
	readonly buckets: readonly StatsBucket[];
	readonly total: AttemptCounts & { readonly events: number };
}

/** How many failed attempts in a row are counted. */
export const MAX_FAILED_IN_A_ROW = 10;

/** How many pending attempts of a project's test events are counted. */
export const MAX_TESTS_WAITING = 1_000;

/**
 * What a webhook's health is judged by (registry/health.ts). Found by index, at a cost that doesn't grow with the log or
 * the backlog. Attempts of test events and deliveries that were closed without a request are left out.
 */
export interface WebhookHealth {
	readonly webhookId: string;
	readonly lastAttempt: AttemptSummary | null;
	/** The first attempt after the last delivered one; null if the last attempt was delivered. */
	readonly failingSince: AttemptSummary | null;
	/** How many attempts have failed since the last delivered one: at most {@link MAX_FAILED_IN_A_ROW}. */
	readonly failedInARow: number;
	/** Attempts that started at `since` or later, by outcome. */
	readonly recent: { readonly delivered: number; readonly failed: number };
	/** When the last delivered attempt started. Here test events count, too. */
	readonly lastDeliveredAt: number | null;
	/** Pending retries and replays; `tests` of them are of test events, as far as {@link MAX_TESTS_WAITING} allows. */
	readonly waiting: { readonly count: number; readonly tests: number; readonly nextAt: number | null };
	/** Deliveries whose last series failed and that haven't been replayed or dismissed since, without tests. */
	readonly deadLetters: number;
}

export interface WaitingRetry extends Retry {
	readonly eventId: string;
	readonly eventType: string;
}

/** Attempts that match, oldest first: at most `limit` after the attempt id `after`, and none that began at `at` or later. */
export interface MatchingReplays extends ProjectRef {
	/** Selects deliveries that have ended, and whose newest attempt matches this filter. Never those of test events. */
	readonly selection: AttemptFilter;
	readonly at: number;
	readonly limit: number;
	readonly after?: string | undefined;
}

/** `next`: the attempt id to continue after, or null at the end. */
export interface ReplayedPage {
	readonly count: number;
	readonly next: string | null;
}

/** A step of counting what would be replayed. */
export interface CountedPage extends ReplayedPage {
	readonly groups: readonly { readonly webhookId: string; readonly eventType: string; readonly count: number }[];
	/** When the newest attempts of the first and last of them started, milliseconds since the Unix epoch; null if none. */
	readonly oldestAt: number | null;
	readonly newestAt: number | null;
}

/** Counts, health and pending attempts, for the dashboard. */
export interface InsightStorage {
	/** Like `listAttempts`, but rows have no bodies. */
	listAttemptSummaries(
		p: ProjectRef & { readonly filter: AttemptFilter; readonly page: Page },
	): Promise<AttemptRows<AttemptSummary>>;
	/** Like `listAttemptSummaries`, with what has become of each delivery. */
	listFollowedAttempts(
		p: ProjectRef & { readonly filter: AttemptFilter; readonly page: ListPage },
	): Promise<AttemptRows<FollowedAttempt>>;
	/** How many attempts match, counted up to `max`. `capped` is true if others may match that weren't counted. */
	countAttempts(
		p: ProjectRef & { readonly filter: AttemptFilter; readonly max: number },
	): Promise<{ readonly count: number; readonly capped: boolean }>;
	/** Whether these events have more attempts than that together. */
	hasMoreAttempts(p: ProjectRef & { readonly seqs: readonly number[]; readonly maxAttempts: number }): Promise<boolean>;
	readStats(p: ProjectRef & { readonly query: StatsQuery }): Promise<Stats>;
	/**
	 * The health of the project's webhooks, without deleted ones, by webhook id.
	 *
	 * @param since a whole minute of the last 48 hours, milliseconds since the Unix epoch
	 * @param until a whole minute; attempts that started from then on don't count. All count by default
	 * @param webhookIds only these webhooks; all by default
	 */
	readHealth(
		p: ProjectRef & { readonly since: number; readonly until?: number; readonly webhookIds?: readonly string[] },
	): Promise<WebhookHealth[]>;
	/** Pending retries and replays of a webhook, or of the whole project without one, soonest first. */
	listWaitingRetries(
		p: ProjectRef & { readonly webhookId: string | null; readonly limit: number },
	): Promise<WaitingRetry[]>;
}
