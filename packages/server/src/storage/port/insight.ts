import type { ReplayFilter, RetryQueue } from "./delivery.ts";
import type { Attempt, AttemptFilter, AttemptPage, AttemptRows } from "./history.ts";
import type { ProjectRef } from "./registry.ts";

/** An entry of the delivery log without its bodies and headers: a row of a list. */
export type AttemptSummary = Omit<Attempt, "requestBody" | "responseBody" | "responseTruncated" | "sent">;

/** How many attempts ended how, and how long receivers took. */
export interface AttemptCounts {
	readonly delivered: number;
	readonly retrying: number;
	readonly failed: number;
	/**
	 * Of those that were sent, milliseconds (nearest rank); null where there was none. Approximate: within a tenth, or a
	 * millisecond.
	 */
	readonly p50Ms: number | null;
	readonly p95Ms: number | null;
}

export interface StatsBucket extends AttemptCounts {
	/** When it begins; milliseconds since the Unix epoch, a multiple of the step. */
	readonly at: number;
	/** Events that were appended to the project's log in this time; 0 where the query is for one webhook. */
	readonly events: number;
}

export interface StatsQuery {
	readonly webhookId?: string;
	/** Multiples of the step; at most 400 buckets. From `since` on and before `until`, by the start of the attempts. */
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

/** How a webhook fares. Found by index, at a cost that does not grow with the log or with what waits. */
export interface WebhookHealth {
	readonly webhookId: string;
	readonly lastAttempt: AttemptSummary | null;
	/** The first attempt after the last one that was delivered, when the last attempt was not. */
	readonly failingSince: AttemptSummary | null;
	readonly lastDeliveredAt: number | null;
	/** Retries and replays that wait. */
	readonly waiting: { readonly count: number; readonly nextAt: number | null };
	/** Deliveries whose last series failed and that were not replayed since. */
	readonly deadLetters: number;
}

export interface WaitingRetry {
	readonly webhookId: string;
	readonly eventId: string;
	readonly eventType: string;
	readonly queue: RetryQueue;
	readonly attempt: number;
	readonly replay: number;
	readonly dueAt: number;
}

/** What replays are chosen by: deliveries that are over and whose newest attempt is one that this filter finds. */
export type ReplaySelection = Omit<AttemptFilter, "since" | "until"> & ReplayFilter;

/** Attempts that match, oldest first: at most `limit` after the attempt id `after`, and none that began at `at` or later. */
export interface MatchingReplays extends ProjectRef {
	readonly selection: ReplaySelection;
	readonly at: number;
	readonly limit: number;
	readonly after?: string | undefined;
}

/** `next`: the attempt id to continue after, or null at the end. */
export interface ReplayedPage {
	readonly count: number;
	readonly next: string | null;
}

/** What people look at: counts, health and what waits. Tests of nothing, changes of nothing but replays. */
export interface InsightStorage {
	/** As `listAttempts`, rows without bodies; `maxBytes` does not matter. */
	listAttemptSummaries(
		p: ProjectRef & { readonly filter: AttemptFilter; readonly page: Omit<AttemptPage, "maxBytes"> },
	): Promise<AttemptRows<AttemptSummary>>;
	/** How many attempts match, counted up to `max`. `capped` is true if others may match that weren't counted. */
	countAttempts(
		p: ProjectRef & { readonly filter: AttemptFilter; readonly max: number },
	): Promise<{ readonly count: number; readonly capped: boolean }>;
	readStats(p: ProjectRef & { readonly query: StatsQuery }): Promise<Stats>;
	/** Of the project's webhooks that are not deleted, by webhook id. */
	readHealth(p: ProjectRef): Promise<WebhookHealth[]>;
	/** What a webhook (or, without one, the whole project) tries next, soonest first. */
	listWaitingRetries(
		p: ProjectRef & { readonly webhookId: string | null; readonly limit: number },
	): Promise<WaitingRetry[]>;
	/** Begins a new series for each delivery that matches, see {@link ReplaySelection}. A short transaction. */
	replayMatching(p: MatchingReplays): Promise<ReplayedPage>;
	/** Counts the deliveries that {@link replayMatching} would replay. */
	countMatching(p: MatchingReplays): Promise<ReplayedPage>;
}
