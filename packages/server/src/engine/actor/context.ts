import type { Clock } from "../../base/clock.ts";
import type { IdSource } from "../../base/ids.ts";
import type { Logger } from "../../base/logger.ts";
import type { RepeatedFailure } from "../../base/repeated-failure.ts";
import type { Shortages } from "../../net/shortages.ts";
import type { LoadedLanes, LogEvent, NewAttempt, Storage } from "../../storage/port.ts";
import type { Lane } from "../lanes/lane.ts";
import type { WindowBudget } from "../lanes/log-reader.ts";
import type { Cancelled, Deferred, Outcome, Sender } from "../send/outcome.ts";
import type { Slot } from "../send/slot.ts";
import type { Slots } from "../send/slots.ts";
import type { SettleResult, Settler, Unsettled } from "../settle/settler.ts";
import type { SigningKeys } from "../signing-keys.ts";
import type { Actor } from "./actor.ts";
import type { Consequence, InFlight } from "./attempt.ts";
import type { SlotKind } from "./backpressure.ts";
import type { OpenedKeys } from "./lane-set.ts";

/** Why a node lost a project without releasing it. */
export type ProjectLoss =
	/** A settle found that another node has the lease. */
	| "stale"
	/** The lease had expired by the time of its renewal. */
	| "expired"
	/** The project's log was rewound: sequence numbers that were seen are missing, or belong to other events. */
	| "rewound"
	/** The database continued from an earlier state, as after a failover. */
	| "epoch"
	/** Storage rejected the project's outcomes. */
	| "refused"
	/** A bug in our code. */
	| "fault";

/** Notified of commits: for metrics, logs and tests that wait on a signal. */
export interface EngineObserver {
	published?(projectId: string, events: readonly LogEvent[]): void;
	/** @param lagMs from the event's publishing to its first attempt, milliseconds; null for any other attempt */
	attempted?(projectId: string, eventId: string, attempt: NewAttempt, lagMs: number | null): void;
	/** This node lost a project without releasing it. */
	lost?(why: ProjectLoss): void;
	swept?(what: "attempts" | "events", rows: number): void;
	/** This node has completed a retention pass. Of all nodes one does, about once an hour. */
	passed?(): void;
}

/** What all actors of a node share. */
export interface ActorContext {
	readonly storage: Storage;
	readonly sender: Sender;
	readonly slots: Slots;
	/** What this node is short of, shared with the sender. */
	readonly shortages: Shortages;
	readonly settler: Settler;
	readonly unsettled: Unsettled;
	readonly budget: WindowBudget;
	readonly clock: Clock;
	/** Real time for waits on the database, even if `clock` is virtual. */
	readonly disk: Clock;
	/** This node; new at each start. */
	readonly holder: string;
	/** The lease duration; must be the one that storage was opened with. */
	readonly leaseTermMs: number;
	readonly ids: IdSource;
	readonly keys: SigningKeys;
	readonly logger: Logger;
	/** Logs reads of storage that fail: thousands of actors repeat theirs twice a second while it is away. */
	readonly readFailure: RepeatedFailure;
	readonly retryDelaysMs: readonly number[];
	/** The sender's timeout for an attempt, milliseconds. */
	readonly attemptTimeoutMs: number;
	readonly retentionMs: number;
	/** The time that events age by (see retention-clock.ts): a clock that is far ahead ages nothing. */
	readonly retentionNow: () => number;
	readonly observer: EngineObserver;
	/** Called when an attempt handed over with this project is settled or rejected. */
	readonly onHandedOverSettled: (projectId: string) => void;
}

/** Why an actor ends before it has released its lease. */
export type LossReason = Exclude<ProjectLoss, "expired" | "epoch">;

/** What the parts of one actor share. Only its loop runs them, so they may change lanes freely. */
export type ProjectWork = Pick<
	Actor,
	| ("projectId" | "context" | "lease" | "reader" | "open" | "inFlight")
	| ("mayStart" | "mayLeave" | "revisit" | "post" | "read")
>;

/** Counts unfinished reads for retries, attempts and commits. */
export class OpenWork {
	count = 0;
	#quiet: (() => void)[] = [];

	begin(): void {
		this.count += 1;
	}

	end(): void {
		this.count -= 1;
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

export type Message =
	/** The project's webhooks as stored: all of them, or only this one if nothing else has changed. */
	| {
			readonly kind: "loaded";
			readonly loaded: LoadedLanes;
			readonly only: string | null;
			/** Keys that are open already. */
			readonly keys?: OpenedKeys | undefined;
			readonly done: () => void;
	  }
	/** Events were published. */
	| { readonly kind: "appended"; readonly events: readonly LogEvent[] }
	/** Other nodes published: the log extends to `lastSeq`. */
	| { readonly kind: "reaches"; readonly lastSeq: number }
	/** An append failed but may have been committed: the end of the log must be read. */
	| { readonly kind: "recheck" }
	/** The log is shorter than what the actor has seen of it, or holds other events under the same numbers. */
	| { readonly kind: "rewound" }
	/** Something was read from storage, or that failed. See {@link Actor.read}. */
	| { readonly kind: "read"; readonly handle: () => void; readonly discard: (() => void) | undefined }
	/** An attempt has ended, or wasn't made after all. */
	| { readonly kind: "ended"; readonly inFlight: InFlight; readonly outcome: Outcome | Cancelled | Deferred }
	/** An attempt's outcome is committed, or was rejected. */
	| {
			readonly kind: "committed";
			readonly inFlight: InFlight;
			readonly consequence: Consequence;
			readonly position: number;
			readonly result: SettleResult;
	  }
	/** The position of a lane that only skipped events is committed, or was rejected. */
	| { readonly kind: "position_committed"; readonly result: SettleResult }
	/** A deleted webhook has nothing pending; this is stored now, or will be later. */
	| { readonly kind: "deletion_ended" }
	/** Another component stored retries or replays of a webhook (of all webhooks, if null). */
	| { readonly kind: "queues_changed"; readonly webhookId: string | null }
	/** A lane (every lane, if null) may have something to start: a retry is due, the lease was renewed. */
	| { readonly kind: "look"; readonly lane: Lane | null }
	/** Visit further marked lanes. */
	| { readonly kind: "continue" }
	| { readonly kind: "released" }
	/** The project is moving to another node, and its attempts in flight didn't end in time: they are handed over. */
	| { readonly kind: "hand_over" }
	/** The node has free slots of this kind again. If `slot` is set, it is reserved for this project. */
	| { readonly kind: "freed"; readonly slots: SlotKind; readonly slot: Slot | null }
	/** A local shortage may have ended. */
	| { readonly kind: "rested" }
	/** Paused lanes should check for events past their retention. */
	| { readonly kind: "sweep" }
	/** Something that must never fail did. */
	| { readonly kind: "fault"; readonly error: unknown };

/**
 * An actor's messages, in order. A microtask handles everything posted before it runs, so a message posted during a
 * call is never handled in the middle of that call.
 */
export class Inbox {
	readonly #work: (messages: readonly Message[]) => void;
	/**
	 * Two arrays used alternately and emptied by popping. V8 pretenures arrays at allocation sites whose arrays mostly
	 * survive, so a fresh array each time would retain its contents until the next full collection.
	 */
	#messages: Message[] = [];
	#spare: Message[] = [];
	#scheduled = false;
	readonly #run = (): void => {
		this.#scheduled = false;
		const messages = this.#messages;
		this.#messages = this.#spare;
		this.#spare = messages;
		try {
			this.#work(messages);
		} finally {
			while (messages.length > 0) messages.pop();
		}
	};

	constructor(work: (messages: readonly Message[]) => void) {
		this.#work = work;
	}

	get isEmpty(): boolean {
		return this.#messages.length === 0;
	}

	post(message: Message): void {
		this.#messages.push(message);
		if (this.#scheduled) return;
		this.#scheduled = true;
		queueMicrotask(this.#run);
	}
}
