import type { EventType } from "@posthorn/protocol";
import type { Budget } from "../base/budget.ts";
import type { Fault } from "../base/text.ts";
import type { Pause } from "../base/turns.ts";
import type { LogEvent, StillAllowed } from "../storage/port.ts";

/** The engine as the HTTP API and the store's facts see it. */
export interface Engine {
	/** Bytes on their way to the log, by project: published events, and facts with the events that follow from them. */
	readonly queue: Budget;

	/** Appends all of these events to the project's log, or none. Resolves after the commit. */
	publish(projectId: string, drafts: EventDrafts, options?: PublishOptions): Promise<PublishResult>;

	/** Sends a sample event of this type to one subscribed webhook, outside its lane. */
	sendTest(projectId: string, webhookId: string, type: EventType, by?: StillAllowed | null): Promise<TestResult>;

	/**
	 * Functions that check signatures with a webhook's current secret, without revealing it. Null if the webhook doesn't
	 * exist, `no_secret` if nothing can be signed with its secret.
	 */
	signatureChecks(projectId: string, webhookId: string): Promise<SignatureChecks | "no_secret" | null>;

	/**
	 * Runs a change of a project's webhooks in storage while its lanes are held, then reloads the lanes. Once it
	 * resolves, nothing more starts under the old settings, and no event was missed between the change and the reload.
	 * Resolves or rejects as `change` does.
	 *
	 * @param scopeOf derives what the change stored from its result
	 */
	change<T>(projectId: string, change: () => Promise<T>, scopeOf: (result: T) => ChangeScope): Promise<T>;

	/**
	 * Checks the project's retry queues after a call that stores replays or retries, if it did by its result. If the call
	 * fails, it may have been committed.
	 */
	wakeAfter<T>(projectId: string, call: Promise<T>, hasStored: (result: T) => boolean): Promise<T>;

	/** Sends these events immediately: they were just appended together with the fact that caused them. */
	appended(projectId: string, events: readonly LogEvent[]): void;

	/** Reads the end of the project's log: an append failed, but may have been committed. */
	recheck(projectId: string): void;
}

/** Whether `signature` (64 hexadecimal digits) is the HMAC of `head`, which is ASCII, followed by the body. */
export type SignatureCheck = (head: string, body: Uint8Array, signature: string) => boolean;

export interface SignatureChecks {
	readonly own: SignatureCheck;
	/** With the key for Standard Webhooks; null if requests don't have their headers. */
	readonly standard: SignatureCheck | null;
}

/** What a change stored: settings of one webhook, of any number of them, or nothing because it was rejected. */
export type ChangeScope = { readonly webhookId: string } | "project" | "nothing";

export interface PublishOptions {
	/** Called between the parts of a {@link DraftReader}; doesn't pause by default. */
	readonly pause?: Pause;
	/** Called when the drafts are no longer needed: from then on only the events' bytes wait, which the queue counts. */
	readonly onEncoded?: () => void;
}

/** A few drafts in memory, or a reader that supplies many while they are encoded. */
export type EventDrafts = readonly EventDraft[] | DraftReader;

/** The drafts of a large batch. While they wait for their turn, only their bytes are held, not their parsed text. */
export interface DraftReader {
	readonly length: number;
	/** Their size as published, bytes. */
	readonly bytes: number;
	/** The next few drafts; null after the last. If it throws, `publish` rejects with the error and writes nothing. */
	next(): readonly EventDraft[] | null;
}

/** An event as published. The caller has already validated its form. */
export interface EventDraft {
	readonly id?: string;
	readonly type: string;
	/** The JSON text of `data`, exactly as it was published. */
	readonly data: string;
	/** Milliseconds since the Unix epoch; the current time by default. */
	readonly createdAt?: number;
}

export type PublishedEvent = Pick<LogEvent, "id" | "seq" | "type" | "createdAt">;

export type PublishResult =
	| { readonly kind: "published"; readonly events: readonly PublishedEvent[] }
	/** The faults of the events; `pointer` is relative to the event, such as `/data/currency`. */
	| { readonly kind: "invalid"; readonly faults: readonly EventFault[] }
	/** One event's data exceeds the limit. */
	| { readonly kind: "too_large"; readonly index: number; readonly bytes: number; readonly limit: number }
	/** Indexes of events whose ids already exist with different content. */
	| { readonly kind: "conflict"; readonly indexes: readonly number[] }
	| { readonly kind: "no_project" }
	| Busy
	/** Another session locked the project's log for too long. */
	| { readonly kind: "locked" };

/** The publish queue is full: this project's share of it, or all of it. Nothing was written. */
export interface Busy {
	readonly kind: "busy";
	readonly whose: "own" | "node";
}

export interface EventFault extends Fault {
	readonly index: number;
}

type TestResult =
	| { readonly kind: "queued"; readonly eventId: string }
	| { readonly kind: "no_webhook" }
	| { readonly kind: "not_subscribed" };
