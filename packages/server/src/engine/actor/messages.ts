import type { LoadedLanes, LogEvent, RetryQueue as QueueName, Retry } from "../../storage/port.ts";
import type { Lane } from "../lanes/lane.ts";
import type { Chunk } from "../lanes/log-reader.ts";
import type { Cancelled, Deferred, Outcome } from "../send/outcome.ts";
import type { Slot } from "../send/slot.ts";
import type { SettleResult } from "../settle/settler.ts";
import type { Consequence, InFlight } from "./attempt.ts";
import type { SlotKind } from "./backpressure.ts";
import type { OpenedKeys } from "./lane-set.ts";

/** Every message that an actor receives. */
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
	/** A window of the log was read; null if the read failed and must be repeated. */
	| { readonly kind: "window"; readonly key: string; readonly chunk: Chunk | null }
	/** A lane's open events were read by sequence number; null if that failed. */
	| {
			readonly kind: "open";
			readonly lane: Lane;
			readonly seqs: readonly number[];
			readonly events: readonly LogEvent[] | null;
	  }
	/** The head of a retry queue was read; null if that failed. */
	| {
			readonly kind: "queue";
			readonly lane: Lane;
			readonly name: QueueName;
			readonly rows: readonly Retry[] | null;
			readonly limit: number;
	  }
	/** The events of queued attempts were read; null if that failed. */
	| { readonly kind: "bodies"; readonly wanted: readonly Wanted[]; readonly events: readonly LogEvent[] | null }
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
	/** A hold was released. */
	| { readonly kind: "released" }
	/** The project is moving to another node, and its attempts in flight didn't end in time: they are handed over. */
	| { readonly kind: "hand_over" }
	/** Check again whether attempts in flight elsewhere have ended. */
	| { readonly kind: "watch_remote" }
	/** The node has free slots of this kind again. If `slot` is set, it is reserved for this project. */
	| { readonly kind: "freed"; readonly slots: SlotKind; readonly slot: Slot | null }
	/** A local shortage may have ended. */
	| { readonly kind: "rested" }
	/** Paused lanes should check for events past their retention. */
	| { readonly kind: "sweep" }
	/** Something that must never fail did. */
	| { readonly kind: "fault"; readonly error: unknown };

/** A queued attempt that was taken from its queue and needs its event. */
export interface Wanted {
	readonly lane: Lane;
	readonly retry: Retry;
	readonly slot: Slot;
}
