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

/** Why a node let go of a project without giving it back. */
export type ProjectLoss =
	/** The lease had passed to another node when something was to be settled, */
	| "stale"
	/** or was over when it was to be renewed. */
	| "expired"
	/** The project's log went back. */
	| "rewound"
	/** The database went on from an earlier state, as after a failover. */
	| "epoch"
	/** Storage refused the project's outcomes. */
	| "refused"
	/** A mistake of ours. */
	| "fault";

/** This part of a lease's term is trusted. */
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
	/** What waiting for the database goes by: the machine's time. */
	readonly disk: Clock;
	readonly leaseTermMs: number;
	readonly ids: IdSource;
	readonly seal: Seal;
	readonly logger: Logger;
	readonly retryDelaysMs: readonly number[];
	/** How long an attempt may take, milliseconds. */
	readonly attemptTimeoutMs: number;
	readonly retentionMs: number;
	/** How many event types there are: a webhook that takes them all reads the log unfiltered. */
	readonly eventTypes: number;
	/** A project that this node worked was let go of without being given back. */
	readonly onLost: (why: ProjectLoss) => void;
	/** An attempt that was handed over with this project is settled, or refused. */
	readonly onHandedOverSettled: (projectId: string) => void;
	/** An attempt was committed. */
	readonly onAttempt: (projectId: string, eventId: string, attempt: NewAttempt) => void;
}

/**
 * Whether this node goes by a lease that it asked for (or renewed) then: until a margin before the term's end in storage,
 * so that it stops before anyone else may begin.
 */
export function isTrusted({ clock, leaseTermMs }: Pick<ActorContext, "clock" | "leaseTermMs">, asked: Moment): boolean {
	return !havePassed(clock, leaseTermMs * TRUSTED_PART, asked);
}
