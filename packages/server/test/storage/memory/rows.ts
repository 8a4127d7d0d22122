/**
 * What each table holds. Rows refer to projects and webhooks by numbers, given in the order of creation. Times that
 * other nodes wait for (`wakeAt`, `until`, `dueAt`, `openAt`) are on the database's clock.
 */
import type { NewAttempt, Webhook } from "../../../src/storage/port.ts";

export interface ProjectRow {
	readonly no: number;
	readonly id: string;
	readonly name: string;
	readonly developer: boolean;
	readonly createdAt: number;
}

export interface LogRow {
	readonly projectNo: number;
	readonly lastSeq: number;
	/** Test events are numbered downward from −1. */
	readonly lastTestSeq: number;
	readonly revision: number;
}

/** At most one of `wakeAt` and `until` is set. */
export interface LeaseRow {
	readonly projectNo: number;
	/** 0 when the project has news, otherwise the time when it is due; null when nothing is pending. */
	readonly wakeAt: number | null;
	readonly holder: string | null;
	readonly generation: number;
	readonly until: number | null;
	/** The revision that the holder applies. */
	readonly acknowledged: number | null;
}

export interface WebhookRow extends Omit<Webhook, "projectId" | "events" | "hasStandardDigest"> {
	readonly no: number;
	readonly projectNo: number;
	readonly sealedDigest: Uint8Array;
	readonly sealedStandardDigest: Uint8Array | null;
	readonly deletedAt: number | null;
	/** The webhook is deleted, and some of its deliveries still have to be closed. */
	readonly closing: boolean;
}

/** Every webhook that isn't deleted has one. */
export interface LaneRow {
	readonly webhookNo: number;
	readonly projectNo: number;
	readonly position: number;
	readonly open: readonly number[];
	readonly skipThrough: number;
	readonly retriesWaiting: number;
	readonly deadLetters: number;
	/** For each type, the `seq` after which it is subscribed. */
	readonly subscriptions: ReadonlyMap<string, number>;
}

export interface EventRow {
	readonly no: number;
	readonly projectNo: number;
	readonly seq: number;
	readonly id: string;
	readonly type: string;
	/** Numbers the project's events of this type; 0 for test events. */
	readonly typeSeq: number;
	readonly createdAt: number;
	readonly publishedAt: number;
	readonly body: Uint8Array;
}

/** Which part of a log is indexed: after `after`, through `through`. */
export interface ReferenceRangeRow {
	readonly projectNo: number;
	readonly after: number;
	readonly through: number;
}

export interface RetryRow {
	readonly webhookNo: number;
	readonly projectNo: number;
	readonly seq: number;
	/** A code of {@link QUEUE_CODE}. */
	readonly queue: number;
	readonly dueAt: number;
	readonly replay: number;
	readonly attempt: number;
}

export interface AttemptRow {
	readonly no: number;
	/** The attempt's id without its prefix. */
	readonly id: string;
	readonly projectNo: number;
	readonly webhookNo: number;
	readonly seq: number;
	readonly replay: number;
	readonly attempt: number;
	/** A code of {@link STATUS_CODE}. */
	readonly status: number;
	/** When the dead letter that it ended as was dismissed. */
	readonly dismissedAt: number | null;
	readonly entry: NewAttempt;
}

export interface HandedOverRow {
	readonly projectNo: number;
	readonly webhookNo: number;
	readonly seq: number;
	readonly replay: number;
	readonly queue: number | null;
	readonly generation: number;
	readonly until: number;
}

/** How many attempts of a webhook, a status and a response-time bucket began within one minute or hour. */
export interface StatRow {
	readonly no: number;
	readonly projectNo: number;
	readonly webhookNo: number;
	/** Milliseconds. */
	readonly grain: number;
	/** The minute or hour since the Unix epoch. */
	readonly at: number;
	readonly status: number;
	readonly responseClass: number;
	readonly n: number;
}

/** A stretch of the database's history that nothing was lost from. */
export interface EpochRow {
	readonly no: number;
	/** Distinguishes it from a lost epoch of the same number. */
	readonly id: string;
	/** The database's history: a different one after each failover. */
	readonly history: number;
	/** Before this, a lease only goes to the node that held it. */
	readonly openAt: number;
}

/** Where a log ended when an epoch began. */
export interface ForkRow {
	readonly projectNo: number;
	readonly epoch: number;
	readonly kept: number;
	/** The last event beyond that which some node knows to be acknowledged; null if none is known. */
	readonly lost: number | null;
}
