import type { AttemptStatus, NewAttempt } from "./delivery.ts";
import type { LogEvent } from "./log.ts";
import type { ProjectRef, WebhookRef } from "./registry.ts";

/** An entry of the delivery log with the event that it delivered. */
export interface Attempt extends NewAttempt {
	readonly eventId: string;
	/** The exact bytes that were sent: the event's envelope. */
	readonly requestBody: Uint8Array;
}

export interface AttemptFilter {
	readonly webhookId?: string;
	readonly type?: string;
	readonly status?: AttemptStatus;
	readonly eventId?: string;
	/** From this time on, and before this time; by the attempt's start, milliseconds since the Unix epoch. */
	readonly since?: number;
	readonly until?: number;
	readonly response?: ResponseFilter;
}

/** Status codes from `from` to `to`, both included; 0 stands for no response. */
export interface CodeRange {
	readonly from: number;
	readonly to: number;
}

/**
 * What receivers responded. No index has it: a call looks at the attempts that the rest of the filter finds, one after
 * the other, and stops after `maxScanned` of them.
 */
export interface ResponseFilter {
	/** Attempts match whose status code is in one of these. */
	readonly codes: readonly CodeRange[];
	/** At least 1. */
	readonly maxScanned: number;
}

export interface AttemptPage {
	readonly limit: number;
	/** The page ends early, after at least one row, rather than hold more bytes of bodies than this. */
	readonly maxBytes: number;
	/** The `next` of the previous page. */
	readonly before?: string;
}

/** A page of the delivery log, newest first. */
export interface AttemptRows<Row> {
	/** With a {@link ResponseFilter} there may be fewer than asked for, even none, on a page that others follow. */
	readonly rows: Row[];
	/** The attempt id to continue before, or null on the last page. */
	readonly next: string | null;
}

export type DeliveryState = "attempting" | "delivered" | "dead_lettered";

export interface Delivery {
	readonly state: DeliveryState;
	/** The attempt that is due or under way, or the last one made. */
	readonly attempt: number;
	readonly replay: number;
	readonly nextRetryAt: number | null;
	/** All series, in the order in which they were made; the newest 200. */
	readonly attempts: readonly Attempt[];
}

/**
 * The delivery log, read. Every filter is a union of index ranges, of which a bounded part is
 * read, so a page costs the same whatever the log holds.
 */
export interface HistoryStorage {
	/** Newest first, by attempt id. */
	listAttempts(
		p: ProjectRef & { readonly filter: AttemptFilter; readonly page: AttemptPage },
	): Promise<AttemptRows<Attempt>>;
	getAttempt(p: ProjectRef & { readonly attemptId: string }): Promise<Attempt | null>;
	/** A delivery with its event, or null when the event was never on its way to this webhook. */
	getDelivery(p: WebhookRef & { readonly eventId: string }): Promise<Delivery | null>;
}

/** What a step of the retention sweep did. */
export interface SweepStep {
	readonly deleted: number;
	/** Where to go on, or null when the pass is over. */
	readonly next: number | null;
	/**
	 * Projects with events past retention that no one attempted, or whose next attempt has been due since before `cutoff`:
	 * their alarm was rung, so that they are dead-lettered.
	 */
	readonly unattempted: readonly string[];
}

export interface RetentionStorage {
	/** Deletes log entries that began before `cutoff`, at most `limit` looked at. */
	sweepAttempts(p: { readonly cutoff: number; readonly limit: number; readonly from: number }): Promise<SweepStep>;
	/** Deletes events appended before `cutoff` that no lane still has to attempt and no log entry or retry refers to. */
	sweepEvents(p: { readonly cutoff: number; readonly limit: number; readonly from: number }): Promise<SweepStep>;
}

export interface Gauges {
	readonly projects: number;
	readonly webhooks: number;
	/** Deliveries that wait for their first attempt, over all webhooks. */
	readonly backlog: number;
	readonly oldestAt: number | null;
	readonly retriesWaiting: number;
	/** Deliveries whose last series failed and that were not replayed since; still in the log. */
	readonly deadLetters: number;
}

export type { LogEvent };
