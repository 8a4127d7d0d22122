import type { LockOptions } from "./log.ts";
import type { ProjectRef, WebhookRef, WebhookStatus } from "./registry.ts";

/**
 * The right to work a project, for a term. The generation rises each time the lease changes hands; every settle
 * carries it and is refused once it is no longer the current one, so a node that was away too long can do no harm. No
 * number is given twice to a node, even after a failover that lost some.
 */
export interface Lease {
	readonly projectId: string;
	readonly generation: number;
	/** When others may take it, by the clock of whoever reads this (milliseconds since the Unix epoch). */
	readonly expiresAt: number;
}

/** What became of leases that were to be renewed; those that were lost are in neither list. */
export interface Renewal {
	readonly renewed: readonly Lease[];
	readonly locked: readonly Lease[];
}

/** One webhook's way through the log, with all that its lane needs to know. */
export interface LaneState {
	readonly webhookId: string;
	readonly url: string;
	/** `deleted`: only to close what is pending. It wants no event, and its secret is gone. */
	readonly status: WebhookStatus | "deleted";
	readonly maxInFlight: number;
	readonly sealedDigest: Uint8Array;
	/** For each subscribed type the `seq` after which it is wanted. */
	readonly subscriptions: ReadonlyMap<string, number>;
	/** Every event up to here was taken up, or is not wanted. */
	readonly position: number;
	/** The events up to `position` whose first attempt is not settled yet, ascending: they were in flight. */
	readonly open: readonly number[];
	/** First series (replay 0) of events up to this `seq` are closed instead of retried: the owner resumed from now. */
	readonly skipThrough: number;
}

/** Which queue of a lane a waiting attempt stands in. */
export type RetryQueue =
	/** Next attempts of failed deliveries: by time. */
	| "retry"
	/** First attempts of replays in bulk: by time, then in the order of the log. */
	| "replay"
	/** First attempts of what a person asked for: a test event, or one delivery replayed by itself. */
	| "requested";

/** A delivery's next attempt, waiting for its time. A delivery has at most one. */
export interface Retry {
	readonly webhookId: string;
	readonly seq: number;
	readonly queue: RetryQueue;
	/** 0 for the first series, then 1, 2 … for each replay. */
	readonly replay: number;
	/** The number of the attempt that waits, from 1. */
	readonly attempt: number;
	/** Not before; milliseconds since the Unix epoch. */
	readonly dueAt: number;
}

/** A place in a retry queue, which is ordered by (dueAt, seq). */
export interface RetryPlace {
	readonly dueAt: number;
	readonly seq: number;
}

export type AttemptStatus = "delivered" | "retrying" | "failed";

/** An entry of the delivery log, as it is written. */
export interface NewAttempt {
	/**
	 * Carries the time when the attempt was taken up, so that bounds on time are bounds on ids. `startedAt` is later by what it
	 * waited for its turn to connect: nothing, unless very many connections are made at once.
	 */
	readonly id: string;
	readonly webhookId: string;
	readonly seq: number;
	readonly eventType: string;
	readonly attempt: number;
	readonly replay: number;
	readonly status: AttemptStatus;
	readonly statusCode: number | null;
	/** A stable code and its plain words, or null where the status code says it all. */
	readonly errorCode: string | null;
	readonly error: string | null;
	readonly startedAt: number;
	readonly responseMs: number;
	/** 1,024 bytes at most. */
	readonly responseBody: Uint8Array;
	readonly responseTruncated: boolean;
	readonly nextRetryAt: number | null;
	readonly url: string;
	/** What was sent besides the event; null when nothing was: no connection came about, or the delivery was closed. */
	readonly sent: { readonly brand: string; readonly timestamp: number; readonly signature: string } | null;
}

/** How far a lane has come: `position` and `open` of {@link LaneState}. */
export type LaneProgress = Pick<LaneState, "webhookId" | "position" | "open">;

/** The outcomes of one project that are committed together. */
export interface Settlement {
	readonly projectId: string;
	readonly generation: number;
	readonly attempts: readonly NewAttempt[];
	/** Deliveries that wait for a next attempt from now on (their row is made or replaced). */
	readonly schedule: readonly Retry[];
	/** Deliveries that wait no longer. */
	readonly unschedule: readonly { readonly webhookId: string; readonly seq: number }[];
	/**
	 * How far lanes have come. What storage holds as settled (up to its position, and not open) stays settled: settling
	 * adds to that, in whatever order and however often.
	 */
	readonly lanes: readonly LaneProgress[];
}

/**
 * An attempt that was in flight when its node released the project's lease. That node may still settle it; whoever works
 * the project counts it as in flight until then, or until its time has passed.
 */
export interface HandedOver {
	readonly webhookId: string;
	readonly seq: number;
	readonly replay: number;
	/** Which queue it came from; null for a first attempt of the lane. */
	readonly queue: RetryQueue | null;
	/** From when on it may be forgotten, by the clock of whoever reads this (milliseconds since the Unix epoch). */
	readonly until: number;
}

export type TestEventResult = "queued" | "no_webhook" | "not_subscribed";

/** What became of a settlement. */
export type Verdict = "settled" | "stale" | "locked";

export type ReplayResult =
	| { readonly kind: "queued"; readonly replay: number }
	/** The delivery is still attempting. */
	| { readonly kind: "attempting" }
	/** This event was never a delivery of this webhook. */
	| { readonly kind: "no_delivery" };

export interface ReplayFilter {
	/** Bounds on when the failed attempt began, milliseconds since the Unix epoch: from `since` on, before `until`. */
	readonly since?: number;
	readonly until?: number;
}

/** Leases, lanes, retries and their settling: what the engine works with. */
export interface DeliveryStorage {
	/**
	 * Takes leases of projects whose alarm has rung and whose lease is free, at most `limit`; with `projectIds`, of
	 * those among them whose lease is free, rung or not. Where more have rung than are asked for, calls take them
	 * in turn, so that none is passed over for one taken since it rang; overdue ones get every other place.
	 *
	 * @param heldBefore `projectIds` are those that this holder held when the current epoch of the database began, and has
	 *   stopped working since
	 * @param onLocked told those of `projectIds` that could not be taken since somebody else holds the lease's row, mostly
	 *   for a moment. Nothing is said of who works them.
	 */
	acquireLeases(p: {
		readonly holder: string;
		readonly limit: number;
		readonly projectIds?: readonly string[] | undefined;
		readonly heldBefore?: boolean | undefined;
		readonly onLocked?: ((projectIds: readonly string[]) => void) | undefined;
	}): Promise<Lease[]>;
	/**
	 * Prolongs leases by a term; answers with those that still hold: not taken by others since, even when their term was
	 * over meanwhile (the machine slept). Leases whose rows somebody else holds are `locked`: neither renewed nor lost.
	 */
	renewLeases(p: LockOptions & { readonly holder: string; readonly leases: readonly Lease[] }): Promise<Renewal>;
	/**
	 * Gives a lease back and sets the project's alarm to `wakeAt` (null: nothing waits); if events were appended beyond
	 * `seenSeq`, or something else rang the alarm since `seenSeq` was read, the alarm stays rung. `inFlight` stays with the
	 * node that releases the lease: each is settled by {@link settleHandedOver}.
	 */
	releaseLease(p: {
		readonly lease: Lease;
		readonly wakeAt: number | null;
		readonly seen: AlarmMark;
		readonly inFlight?: readonly HandedOver[] | undefined;
	}): Promise<void>;
	/** When the earliest alarm of a project without a live lease rings, or null. */
	nextAlarm(): Promise<number | null>;

	/**
	 * The project's lanes, the mark of what they include, and the attempts that are in flight at former holders. Of deleted
	 * webhooks, those are among the lanes whose pending deliveries are still to be closed.
	 *
	 * @param webhookId reads only this webhook's lane; none if it has none
	 */
	loadLanes(p: ProjectRef & { readonly webhookId?: string | undefined }): Promise<LoadedLanes>;
	/** Leaves a deleted webhook out of the lanes from now on, unless something is still pending. */
	endDeletion(p: WebhookRef): Promise<void>;
	/** A window of one lane's queue, ordered by (dueAt, seq), behind `after`. */
	readRetries(
		p: WebhookRef & { readonly queue: RetryQueue; readonly limit: number; readonly after?: RetryPlace | undefined },
	): Promise<Retry[]>;

	/**
	 * Commits outcomes durably, in one transaction. A settlement whose generation is not the lease's current one is
	 * refused whole, and so is one with an attempt that is logged already, or with a lane beyond the log's end: whoever
	 * made it works from what is no longer true. The first attempt of an event comes with where its lane stands then, so
	 * that lanes tell what was attempted. Attempts of deleted webhooks are logged, but nothing new is scheduled for them. Of a
	 * project whose rows somebody else holds nothing is written, and all of its settlements are `locked`.
	 */
	settle(p: LockOptions & { readonly settlements: readonly Settlement[] }): Promise<Verdict[]>;

	/**
	 * Settles an attempt that was handed over with the lease of `settlement`: logs it (without attempts, it is given back
	 * unmade), and rings the alarm. Refused (`stale`) if that lease handed no such attempt over, or it was forgotten since.
	 */
	settleHandedOver(p: {
		readonly handedOver: HandedOver;
		readonly settlement: Settlement;
	}): Promise<"settled" | "stale">;
	/** Forgets the project's handed-over attempts whose time has passed: their nodes died. They can be made again. */
	forgetHandedOver(p: ProjectRef): Promise<void>;

	/** Stores a test event beside the log and puts it in the queue of its webhook, if that is subscribed to its type. */
	appendTestEvent(
		p: WebhookRef & { readonly event: { id: string; type: string; createdAt: number; body: Uint8Array } },
	): Promise<TestEventResult>;
	/** Begins a new series for a delivery that is over. */
	replayDelivery(p: WebhookRef & { readonly eventId: string; readonly at: number }): Promise<ReplayResult>;
	/**
	 * Begins a new series for dead-lettered deliveries, oldest first, at most `limit` a call (a short transaction).
	 * `next` is the place to go on from, or null at the end.
	 */
	replayFailed(
		p: WebhookRef & {
			readonly filter: ReplayFilter;
			readonly at: number;
			readonly limit: number;
			readonly after?: string | undefined;
		},
	): Promise<{ count: number; next: string | null }>;
}

export interface LoadedLanes {
	readonly lanes: readonly LaneState[];
	readonly seen: AlarmMark;
	readonly handedOver: readonly HandedOver[];
}

/** A mark of what a reader had seen when it loaded lanes, so that nothing rung later is missed. */
export interface AlarmMark {
	/** The project's last `seq`. */
	readonly lastSeq: number;
	/** A number that rises with every change to webhooks, replay and test of the project. */
	readonly revision: number;
}
