import type { EventType } from "@posthorn/protocol";
import type { Budget } from "../base/budget.ts";
import type { Pause } from "../base/turns.ts";
import type { LogEvent } from "../storage/port.ts";

/** The engine as the rest of the service sees it: what the HTTP API and the store's facts call. */
export interface Engine {
	/** Bytes on their way to the log, by project: published events, and facts with the events that follow from them. */
	readonly queue: Budget;

	/** Appends events to the project's log; answers after the commit. All of them, or none. */
	publish(projectId: string, drafts: EventDrafts, options?: PublishOptions): Promise<PublishResult>;

	/** Sends a sample event of this type to one webhook that is subscribed to it, beside its lane. */
	sendTest(projectId: string, webhookId: string, type: EventType): Promise<TestResult>;

	/**
	 * Makes a change to a project's webhooks in storage while its lanes stand still, and has them go on by what storage
	 * then says. When it resolves, nothing is started by the old settings any more, and no event has slipped between the
	 * change and the lanes. Answers with, or rejects as, `change` does.
	 *
	 * @param changedWebhook names the webhook that was changed, if that is all that was; else null
	 */
	change<T>(projectId: string, change: () => Promise<T>, changedWebhook?: (result: T) => string | null): Promise<T>;

	/** Looks for new work in the project's retry queues: a replay was just stored. */
	wake(projectId: string): void;

	/** Sends these at once: they were just appended to the project's log together with what made them. */
	appended(projectId: string, events: readonly LogEvent[]): void;
}

export interface PublishOptions {
	/** Asked between what a {@link DraftReader} gives; never pauses unless given. */
	readonly pause?: Pause;
	/** The drafts are not needed any more: what waits for the disk are the events' bytes, and the queue counts them. */
	readonly onEncoded?: () => void;
}

/** A few drafts at once, or more of them that are read as they are encoded. */
export type EventDrafts = readonly EventDraft[] | DraftReader;

/** The drafts of a large batch: of those that wait for their turn only the bytes are held, and no texts. */
export interface DraftReader {
	readonly length: number;
	/** What they take as they were published, bytes. */
	readonly bytes: number;
	/** The next few; null after the last. What it throws, `publish` rejects as, and nothing is written. */
	next(): readonly EventDraft[] | null;
}

/** An event as a publisher hands it in, its form already checked by whoever read it. */
export interface EventDraft {
	readonly id?: string;
	readonly type: string;
	/** The JSON text of `data`, exactly as it was published. */
	readonly data: string;
	/** Milliseconds since the Unix epoch; now, unless said. */
	readonly createdAt?: number;
}

export interface PublishedEvent {
	readonly id: string;
	readonly seq: number;
	readonly type: string;
	readonly createdAt: number;
}

export type PublishResult =
	| { readonly kind: "published"; readonly events: readonly PublishedEvent[] }
	/** What is wrong with the events; `pointer` is relative to the event, such as `/data/currency`. */
	| { readonly kind: "invalid"; readonly faults: readonly EventFault[] }
	/** One event's data is larger than is allowed. */
	| { readonly kind: "too_large"; readonly index: number; readonly bytes: number; readonly limit: number }
	/** Ids that are taken by other content, by the events' index. */
	| { readonly kind: "conflict"; readonly indexes: readonly number[] }
	| { readonly kind: "no_project" }
	| Busy
	/** Another session held the project's log for too long. */
	| { readonly kind: "locked" };

/** The queue to the log is full: this project's share of it, or all of it. Nothing was written. */
export interface Busy {
	readonly kind: "busy";
	readonly whose: "own" | "node";
}

export interface EventFault {
	readonly index: number;
	readonly pointer: string;
	readonly detail: string;
}

export type TestResult =
	| { readonly kind: "queued"; readonly eventId: string }
	| { readonly kind: "no_webhook" }
	| { readonly kind: "not_subscribed" };
