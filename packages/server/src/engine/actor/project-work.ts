import type { Bag } from "../../base/bag.ts";
import type { LogReader } from "../lanes/log-reader.ts";
import type { ActorContext } from "./context.ts";
import type { Flight } from "./flight.ts";
import type { Message } from "./messages.ts";

/** What the parts of one actor share. Only its loop runs them, so they change lanes freely. */
export interface ProjectWork {
	readonly projectId: string;
	readonly context: ActorContext;
	readonly reader: LogReader;
	/** What is under way and not yet committed. */
	readonly open: OpenWork;
	/** The attempts among it. */
	readonly flights: Bag<Flight>;
	/** The lease as settles carry it. */
	readonly lease: { readonly projectId: string; generation: number };
	/** Whether anything may be started: lanes are loaded and not held, the lease is trusted. */
	readonly mayStart: boolean;
	/** Whether a request that was started may still be written: the lease is trusted. */
	readonly mayLeave: () => boolean;
	/** Puts a message into the actor's inbox. */
	post(message: Message): void;
	/** A read failed: logs it and, after a while, calls `again`. */
	readFailed(error: unknown, again: () => void): void;
}

/** Counts reads for retries, attempts and commits from their start to their end. */
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

	/** Resolves when the loop next finds nothing open. */
	whenQuiet(): Promise<void> {
		return new Promise((resolve) => this.#quiet.push(resolve));
	}

	/** The loop found nothing open, or the actor is over. */
	becameQuiet(): void {
		for (const resolve of this.#quiet.splice(0)) resolve();
	}
}
