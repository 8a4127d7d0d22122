import type { Clock } from "../../base/clock.ts";
import type { Bag } from "../../base/collections.ts";
import type { IdSource } from "../../base/ids.ts";
import type { Logger } from "../../base/logger.ts";
import type { Shortages } from "../../net/shortages.ts";
import type { LogEvent, NewAttempt, Storage } from "../../storage/port.ts";
import type { LogReader, WindowBudget } from "../lanes/log-reader.ts";
import type { Sender } from "../send/sender.ts";
import type { Slots } from "../send/slots.ts";
import type { SettleResult, Settler, Unsettled } from "../settle/settler.ts";
import type { SigningKeys } from "../signing-keys.ts";
import type { InFlight } from "./attempt.ts";
import type { Message } from "./messages.ts";

/** Why a node lost a project without releasing it. */
export type ProjectLoss =
	/** A settle found that another node has the lease. */
	| "stale"
	/** The lease had expired by the time of its renewal. */
	| "expired"
	/** The project's log was rewound. */
	| "rewound"
	/** The database continued from an earlier state, as after a failover. */
	| "epoch"
	/** Storage rejected the project's outcomes. */
	| "refused"
	/** A bug in our code. */
	| "fault";

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
	readonly keys: SigningKeys;
	readonly logger: Logger;
	readonly retryDelaysMs: readonly number[];
	/** How long an attempt may take, milliseconds. */
	readonly attemptTimeoutMs: number;
	readonly retentionMs: number;
	/** The time that events age by, milliseconds: a clock that is far ahead ages nothing. */
	readonly retentionNow: () => number;
	/** Number of event types: a webhook subscribed to all of them reads the log unfiltered. */
	readonly eventTypes: number;
	/** Called when events of a project are committed. */
	readonly onPublished: (projectId: string, events: readonly LogEvent[]) => void;
	/** Called when this node loses a project without releasing it. */
	readonly onLost: (why: ProjectLoss) => void;
	/** Called when an attempt handed over with this project is settled or rejected. */
	readonly onHandedOverSettled: (projectId: string) => void;
	/** Called when an attempt is committed. */
	readonly onAttempt: (projectId: string, eventId: string, attempt: NewAttempt) => void;
}

/** Why an actor ends before it has released its lease. */
export type LossReason =
	| Exclude<SettleResult, "settled">
	/** The log was rewound: sequence numbers that this actor has seen are missing, or belong to other events. */
	| "rewound"
	| "fault";

/** What the parts of one actor share. Only its loop runs them, so they may change lanes freely. */
export interface ProjectWork {
	readonly projectId: string;
	readonly context: ActorContext;
	readonly reader: LogReader;
	/** Work that is in flight or not yet committed. */
	readonly open: OpenWork;
	/** The attempts in flight. */
	readonly inFlight: Bag<InFlight>;
	/** The lease as settlements carry it. */
	readonly lease: { readonly projectId: string; generation: number };
	/** Whether anything may be started: the lanes are loaded and not held, and the lease is trusted. */
	readonly mayStart: boolean;
	/** Whether a started request may still be written: the lease is trusted. */
	readonly mayLeave: () => boolean;
	/** Puts a message into the actor's inbox. */
	post(message: Message): void;
	/** Logs a failed read and calls `again` after a delay. */
	readFailed(error: unknown, again: () => void): void;
}

/** Counts unfinished reads for retries, attempts and commits. */
export class OpenWork {
	#count = 0;
	#quiet: (() => void)[] = [];

	get count(): number {
		return this.#count;
	}

	begin(): void {
		this.#count += 1;
	}

	end(): void {
		this.#count -= 1;
	}

	/** Resolves when the loop next finds no open work. */
	whenQuiet(): Promise<void> {
		return new Promise((resolve) => this.#quiet.push(resolve));
	}

	/** The loop found no open work, or the actor has ended. */
	becameQuiet(): void {
		for (const resolve of this.#quiet.splice(0)) resolve();
	}
}
