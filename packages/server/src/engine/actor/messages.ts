import type { LoadedLanes, LogEvent, RetryQueue as QueueName, Retry } from "../../storage/port.ts";
import type { Chunk } from "../lanes/chunk.ts";
import type { Lane } from "../lanes/lane.ts";
import type { Deferred, Outcome, Withheld } from "../send/outcome.ts";
import type { Slot } from "../send/slots.ts";
import type { SettleResult } from "../settle/settler.ts";
import type { Consequence, Flight } from "./flight.ts";
import type { SlotKind } from "./room.ts";

/** Everything that an actor hears of. */
export type Message =
	/** The project's webhooks, as storage has them: all, or only this one, if nothing else has changed. */
	| {
			readonly kind: "loaded";
			readonly loaded: LoadedLanes;
			readonly only: string | null;
			readonly done: () => void;
	  }
	/** Events were published. */
	| { readonly kind: "appended"; readonly events: readonly LogEvent[] }
	/** Other nodes published: the log goes as far as this. */
	| { readonly kind: "reaches"; readonly lastSeq: number }
	/** The log is shorter than what the actor has seen of it, or holds other events under the same numbers. */
	| { readonly kind: "rewound" }
	/** A window of the log was read; null when the read failed and should be made again. */
	| { readonly kind: "window"; readonly key: string; readonly chunk: Chunk | null }
	/** Open events of a lane were read by number, or null. */
	| {
			readonly kind: "open";
			readonly lane: Lane;
			readonly seqs: readonly number[];
			readonly events: readonly LogEvent[] | null;
	  }
	/** The head of a retry queue was read, or null. */
	| {
			readonly kind: "queue";
			readonly lane: Lane;
			readonly name: QueueName;
			readonly rows: readonly Retry[] | null;
			readonly limit: number;
	  }
	/** The events of waiting attempts were read, or null. */
	| { readonly kind: "bodies"; readonly wanted: readonly Wanted[]; readonly events: readonly LogEvent[] | null }
	/** An attempt is over, or was not made after all. */
	| { readonly kind: "ended"; readonly flight: Flight; readonly outcome: Outcome | Withheld | Deferred }
	/** Its outcome is committed, or refused. */
	| {
			readonly kind: "committed";
			readonly flight: Flight;
			readonly consequence: Consequence;
			readonly position: number;
			readonly result: SettleResult;
	  }
	/** The position of a lane that only passed over events is committed, or refused. */
	| { readonly kind: "position_committed"; readonly result: SettleResult }
	/** It is stored, or will be later, that a deleted webhook has nothing pending. */
	| { readonly kind: "deletion_ended" }
	/** Retries or replays of a webhook (of all, if null) were stored by others. */
	| { readonly kind: "queues_changed"; readonly webhookId: string | null }
	/** A lane (each, if null) may have something to start: a retry is due, the lease was renewed. */
	| { readonly kind: "look"; readonly lane: Lane | null }
	/** A hold is over. */
	| { readonly kind: "released" }
	/** The project changes nodes, and its attempts in flight have not ended in time: they are handed over. */
	| { readonly kind: "hand_over" }
	/** Whether attempts in flight elsewhere have ended should be looked at again. */
	| { readonly kind: "watch_elsewhere" }
	/** The node has room again for slots of this kind; with a slot, one is kept for this project. */
	| { readonly kind: "freed"; readonly slots: SlotKind; readonly slot: Slot | null }
	/** A shortage of ours may be over. */
	| { readonly kind: "rested" }
	/** Paused lanes should look for events whose retention has ended. */
	| { readonly kind: "sweep" }
	/** Something broke its promise never to fail. */
	| { readonly kind: "fault"; readonly error: unknown };

/** A waiting attempt that was taken from its queue and needs its event. */
export interface Wanted {
	readonly lane: Lane;
	readonly retry: Retry;
	readonly slot: Slot;
}
