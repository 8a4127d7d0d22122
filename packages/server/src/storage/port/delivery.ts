import type { LockOptions } from "./log.ts";
import type { Backlog, ProjectRef, WebhookRef, WebhookStatus } from "./registry.ts";

/**
 * The right to run a project, for a limited time. The generation rises each time the lease changes hands. Every settle
 * carries it, and is refused if it isn't the current one, so a node that was away too long can do no harm. A node never
 * gets the same number twice, even after a failover that lost some.
 */
export interface Lease {
	readonly projectId: string;
	readonly generation: number;
	/** When others may take it, by the reader's clock (milliseconds since the Unix epoch). */
	readonly expiresAt: number;
}

/** The result of renewing leases. Lost ones are in neither list. */
export interface Renewal {
	readonly renewed: readonly Lease[];
	readonly locked: readonly Lease[];
}

/** A webhook's position in the log, with everything that its lane needs. */
export interface LaneState {
	readonly webhookId: string;
	readonly url: string;
	/** `deleted`: the lane only closes pending deliveries. It subscribes to nothing, and its secret is gone. */
	readonly status: WebhookStatus | "deleted";
	readonly maxInFlight: number;
	readonly sealedDigest: Uint8Array;
	/** The second digest, only if the owner asked for Standard Webhooks' headers. */
	readonly sealedStandardDigest?: Uint8Array | null;
	/** For each subscribed type, the `seq` that the subscription starts after. */
	readonly subscriptions: ReadonlyMap<string, number>;
	/** Every event up to here was started, or isn't subscribed to. */
	readonly position: number;
	/** Events up to `position` whose first attempt isn't settled yet, ascending. They were in flight. */
	readonly open: readonly number[];
	/** First series (replay 0) of events up to this `seq` are closed instead of retried: the owner resumed from now. */
	readonly skipThrough: number;
}

/** The queue of a lane that a pending attempt is in. */
export type QueueName =
	/** Next attempts of failed deliveries: by time. */
	| "retry"
	/** First attempts of replays in bulk: by time, then in the order of the log. */
	| "replay"
	/** First attempts of test events, and of deliveries replayed one by one. */
	| "requested";

/** A delivery's next attempt, until it's due. A delivery has at most one. */
export interface Retry {
	readonly webhookId: string;
	readonly seq: number;
	readonly queue: QueueName;
	/** 0 for the first series, then 1, 2 … for each replay. */
	readonly replay: number;
	/** The number of the pending attempt, from 1. */
	readonly attempt: number;
	/** Not before; milliseconds since the Unix epoch. */
	readonly dueAt: number;
}

/** A position in a retry queue, which is ordered by (dueAt, seq). */
export type RetryPosition = Pick<Retry, "dueAt" | "seq">;

export type AttemptStatus = "delivered" | "retrying" | "failed";

/**
 * Error codes of deliveries that were closed without a request. Such an entry of the log is `failed`, but says nothing
 * about the receiver.
 */
export const CLOSING_REASONS = ["expired", "unsubscribed", "skipped", "deleted", "test_cancelled"] as const;

/** Whether this is such an error code. */
export const isClosing = (errorCode: string | null): boolean =>
	errorCode !== null && (CLOSING_REASONS as readonly string[]).includes(errorCode);

/** What helps to explain an attempt that failed. Its texts are the receiver's, but visible and bounded. */
export interface AttemptDetails {
	/** Some header fields of the response, by name in lower case. */
	readonly headers?: Readonly<Record<string, string>>;
	/** What name servers answered: a stable code. */
	readonly dns?: string;
	/** The certificate that was rejected. Times are milliseconds since the Unix epoch. */
	readonly certificate?: {
		readonly subject: string;
		readonly issuer: string;
		readonly names: readonly string[];
		readonly validFrom: number | null;
		readonly validTo: number | null;
	};
}

/** A new entry of the delivery log. */
export interface NewAttempt {
	/** Contains `startedAt`, or a little more after the clock was set back: bounds on time are bounds on ids. */
	readonly id: string;
	readonly webhookId: string;
	readonly seq: number;
	readonly eventType: string;
	readonly attempt: number;
	readonly replay: number;
	readonly status: AttemptStatus;
	readonly statusCode: number | null;
	/** A stable code and its message; null if the status code is enough. */
	readonly errorCode: string | null;
	readonly error: string | null;
	readonly startedAt: number;
	readonly responseMs: number;
	/** 1,024 bytes at most. */
	readonly responseBody: Uint8Array;
	readonly responseTruncated: boolean;
	/** Absent for most: there is nothing to explain, or nothing known. */
	readonly details?: AttemptDetails;
	readonly nextRetryAt: number | null;
	readonly url: string;
	/**
	 * What was sent in addition to the event; null if nothing was, because no connection opened or the delivery was
	 * closed.
	 */
	readonly sent: SentHeaders | null;
}

/** The parts of a request's headers that vary between attempts. */
export interface SentHeaders {
	/** The brand word in the header names and the user agent. */
	readonly brand: string;
	/** The value of the timestamp header, whole seconds. */
	readonly timestamp: number;
	/** The value of the signature header, 64 hexadecimal characters. */
	readonly signature: string;
	/** The signature for Standard Webhooks in base64, if the webhook asks for it. */
	readonly standardSignature?: string;
}

/** A lane's progress: `position` and `open` of {@link LaneState}. */
export type LaneProgress = Pick<LaneState, "webhookId" | "position" | "open">;

/** Outcomes of one project, committed together. */
export interface Settlement {
	readonly projectId: string;
	readonly generation: number;
	readonly attempts: readonly NewAttempt[];
	/** Deliveries with a pending attempt from now on. Their row is created or replaced. */
	readonly schedule: readonly Retry[];
	/** Deliveries without a pending attempt from now on. */
	readonly unschedule: readonly Pick<Retry, "webhookId" | "seq">[];
	/**
	 * Lanes' progress. Events that are settled in storage (up to its position, and not open) stay settled: settling
	 * only adds to them, in any order and any number of times.
	 */
	readonly lanes: readonly LaneProgress[];
}

/**
 * An attempt that was in flight when its node released the project's lease. That node may still settle it. Until then,
 * or until it expires, the new holder counts it as in flight.
 */
export interface HandedOver extends Pick<Retry, "webhookId" | "seq" | "replay"> {
	/** The queue that it came from; null for a first attempt from the log. */
	readonly queue: QueueName | null;
	/** When it expires, by the reader's clock (milliseconds since the Unix epoch). */
	readonly until: number;
}

/** The result of a settlement. */
export type Verdict = "settled" | "stale" | "locked";

export type CancelTestResult =
	/** Its pending attempt is closed instead of sent. One in flight ends first. */
	| "cancelled"
	/** No attempt of this delivery is waiting in a queue. */
	| "nothing_waits"
	| "not_a_test";

export type ReplayResult =
	| { readonly kind: "queued"; readonly replay: number }
	/** The delivery is still being attempted. */
	| { readonly kind: "attempting" }
	/** This webhook never had a delivery of this event. */
	| { readonly kind: "no_delivery" };

export type RetryNowResult =
	/** It is due now, or was already. */
	| { readonly kind: "queued"; readonly attempt: number; readonly replay: number }
	/** No attempt of this delivery is waiting in a queue. */
	| { readonly kind: "nothing_waits" };

/** A delivery as clients name it. */
export interface DeliveryKey {
	readonly webhookId: string;
	readonly eventId: string;
}

/** Leases, lanes, retries and settling, for the engine. */
export interface DeliveryStorage {
	/**
	 * Acquires up to `limit` free leases of projects that are due. With `projectIds`, only of those projects, due or not.
	 * If more projects are due than requested, calls take them in turn, so none is skipped for one acquired since it
	 * became due. Every other slot goes to an overdue one.
	 *
	 * @param heldBefore this holder held `projectIds` when the database's current epoch began, and has stopped running
	 * them since
	 * @param onLocked called with those of `projectIds` whose lease row another session has locked, usually for a moment.
	 * Who runs them is unknown.
	 */
	acquireLeases(p: {
		readonly holder: string;
		readonly limit: number;
		readonly projectIds?: readonly string[] | undefined;
		readonly heldBefore?: boolean | undefined;
		readonly onLocked?: ((projectIds: readonly string[]) => void) | undefined;
	}): Promise<Lease[]>;
	/**
	 * Renews leases. Returns those that still hold: no other node has taken them, even if they had expired (the machine
	 * slept). Leases whose rows another session has locked are `locked`: neither renewed nor lost.
	 */
	renewLeases(p: LockOptions & { readonly holder: string; readonly leases: readonly Lease[] }): Promise<Renewal>;
	/**
	 * Releases a lease and sets the project's alarm to `wakeAt` (null: nothing is pending). If events were appended
	 * after `seen`, or the project changed since then, it's due immediately. The attempts `inFlight` stay with the
	 * releasing node, which settles each by {@link settleHandedOver}.
	 */
	releaseLease(p: {
		readonly lease: Lease;
		readonly wakeAt: number | null;
		readonly seen: AlarmMark;
		readonly inFlight?: readonly HandedOver[] | undefined;
	}): Promise<void>;
	/** When the next project without a valid lease is due, or null. */
	nextAlarm(): Promise<number | null>;

	/**
	 * The project's lanes, a mark of what they include, and former holders' attempts in flight. Lanes of deleted
	 * webhooks are included while deliveries are still to be closed.
	 *
	 * @param webhookId reads only this webhook's lane, if it has one
	 */
	loadLanes(p: ProjectRef & { readonly webhookId?: string | undefined }): Promise<LoadedLanes>;
	/** The backlogs of these webhooks, by webhook id. */
	readBacklogs(p: ProjectRef & { readonly webhookIds: readonly string[] }): Promise<Map<string, Backlog>>;
	/** A window of one lane's queue after `after`, ordered by (dueAt, seq). */
	readRetries(
		p: WebhookRef & { readonly queue: QueueName; readonly limit: number; readonly after?: RetryPosition | undefined },
	): Promise<Retry[]>;

	/**
	 * Commits outcomes in one transaction. A settlement is refused as `stale` if its generation isn't the lease's current
	 * one, if one of its attempts is already logged, or if a lane is beyond the log's end: its sender relies on outdated
	 * state. An event's first attempt comes with its lane's progress, so lanes show what was attempted. Attempts of
	 * deleted webhooks are logged, but nothing is scheduled for them. If another session has locked a project's rows, all
	 * of its settlements are `locked` and nothing of them is written.
	 */
	settle(p: LockOptions & { readonly settlements: readonly Settlement[] }): Promise<Verdict[]>;

	/**
	 * Settles an attempt that was handed over with the lease of `settlement`: logs it and makes the project due. A
	 * settlement without attempts returns it unsent. `stale` if that lease didn't hand it over, or it was forgotten
	 * since.
	 */
	settleHandedOver(p: {
		readonly handedOver: HandedOver;
		readonly settlement: Settlement;
	}): Promise<"settled" | "stale">;
	/** Forgets the project's expired attempts in flight: their nodes died. They can be made again. */
	forgetHandedOver(p: ProjectRef): Promise<void>;
}

export interface LoadedLanes {
	readonly lanes: readonly LaneState[];
	readonly seen: AlarmMark;
	readonly handedOver: readonly HandedOver[];
}

/** What a reader had seen when it loaded lanes, so that it misses no later change. */
export interface AlarmMark {
	readonly lastSeq: number;
	/** Rises with every change of the project's webhooks, replay and test event. */
	readonly revision: number;
}
