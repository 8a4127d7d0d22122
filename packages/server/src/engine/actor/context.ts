import type { Clock } from "../../base/clock.ts";
import type { IdSource } from "../../base/ids.ts";
import type { Logger } from "../../base/logger.ts";
import type { Seal } from "../../base/seal.ts";
import type { NewAttempt, Storage } from "../../storage/port.ts";
import type { WindowBudget } from "../lanes/window-budget.ts";
import type { Sender } from "../send/sender.ts";
import type { Slots } from "../send/slots.ts";
import type { Settler } from "../settle/settler.ts";

/** What all actors of a node share. */
export interface ActorContext {
	readonly storage: Storage;
	readonly sender: Sender;
	readonly slots: Slots;
	readonly settler: Settler;
	readonly budget: WindowBudget;
	readonly clock: Clock;
	readonly ids: IdSource;
	readonly seal: Seal;
	readonly logger: Logger;
	readonly retryDelaysMs: readonly number[];
	readonly retentionMs: number;
	/** How many event types there are: a webhook that takes them all reads the log unfiltered. */
	readonly eventTypes: number;
	/** An attempt was committed. */
	readonly onAttempt: (projectId: string, eventId: string, attempt: NewAttempt) => void;
}
