import { type Clock, havePassed, type Moment } from "../../base/clock.ts";
import type { IdSource } from "../../base/ids.ts";
import type { Logger } from "../../base/logger.ts";
import type { Seal } from "../../base/seal.ts";
import type { NewAttempt, Storage } from "../../storage/port.ts";
import type { WindowBudget } from "../lanes/window-budget.ts";
import type { Sender } from "../send/sender.ts";
import type { Shortages } from "../send/shortages.ts";
import type { Slots } from "../send/slots.ts";
import type { Settler } from "../settle/settler.ts";
import type { Unsettled } from "../settle/unsettled.ts";

/** Why a node lost a project without releasing it. */
export type ProjectLoss =
	/** A settle found that another node has the lease. */
	| "stale"
	/** The lease had expired by the time of its renewal. */
	| "expired"
	/** The project's log was rewound. */
	| "rewound"
	/** The database resumed from an earlier state, as after a failover. */
	| "epoch"
	/** Storage rejected the project's outcomes. */
	| "refused"
	/** A bug in our code. */
	| "fault";

/** The fraction of a lease's duration for which it is trusted. */
const TRUSTED_PART = 0.8;

/** What all actors of a node share. */
export interface ActorContext {
	readonly storage: Storage;
	readonly sender: Sender;
	readonly slots: Slots;
	readonly shortages: Shortages;
	readonly settler: Settler;
	readonly unsettled: Unsettled;
	readonly budget: WindowBudget;
	readonly clock: Clock;
	/** Real time, for waits on the database. */
	readonly disk: Clock;
	readonly leaseTermMs: number;
	readonly ids: IdSource;
	readonly seal: Seal;
	readonly logger: Logger;
	readonly retryDelaysMs: readonly number[];
	/** How long an attempt may take, milliseconds. */
	readonly attemptTimeoutMs: number;
	readonly retentionMs: number;
	/** Number of event types: a webhook subscribed to all of them reads the log unfiltered. */
	readonly eventTypes: number;
	/** Called when this node loses a project without releasing it. */
	readonly onLost: (why: ProjectLoss) => void;
	/** Called when an attempt handed over with this project is settled or rejected. */
	readonly onHandedOverSettled: (projectId: string) => void;
	/** Called when an attempt is committed. */
	readonly onAttempt: (projectId: string, eventId: string, attempt: NewAttempt) => void;
}

/**
 * Whether this node still trusts a lease that it requested (or renewed) at `since`. Trust ends a margin before the
 * lease does in storage, so that this node stops before another may start.
 */
export function isTrusted({ clock, leaseTermMs }: Pick<ActorContext, "clock" | "leaseTermMs">, since: Moment): boolean {
	return !havePassed(clock, leaseTermMs * TRUSTED_PART, since);
}
