import type { Bag } from "../../base/bag.ts";
import type { LogReader } from "../lanes/log-reader.ts";
import type { SettleResult } from "../settle/settler.ts";
import type { ActorContext } from "./context.ts";
import type { Flight } from "./flight.ts";
import type { Message } from "./messages.ts";

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
	readonly flights: Bag<Flight>;
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
