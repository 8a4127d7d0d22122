import type { AttemptSummary } from "./history.ts";
import type { ProjectRef } from "./registry.ts";

/** An order id or a customer's e-mail address, by which the events that contain it are found. */
export interface EventReference {
	readonly kind: "order" | "customer";
	readonly value: string;
}

/** How much of a project's log the index of references covers. */
export interface IndexCoverage {
	/** Whether it covers all of the log. */
	readonly complete: boolean;
	/** Events created from this time on are covered; null if all are, or none. */
	readonly since: number | null;
}

/** An event without its body. */
export interface EventSummary {
	readonly seq: number;
	readonly id: string;
	readonly type: string;
	/** When it was generated; milliseconds since the Unix epoch. */
	readonly createdAt: number;
}

/** An event's order id. */
export interface EventOrder {
	readonly seq: number;
	readonly orderId: string;
}

/** Events that contain a reference, by their numbers. Those that retention has deleted may be among them. */
export interface ReferencedEvents extends IndexCoverage {
	/** Newest first, `limit` at most. */
	readonly seqs: readonly number[];
	/** Whether older ones were left out. */
	readonly capped: boolean;
}

/** The next part of a log that isn't indexed: its references, each as a number (see shared/references.ts). */
export interface UnindexedPart {
	/** The events from after this number … */
	readonly after: number;
	/** … through this one. */
	readonly through: number;
	readonly references: readonly { readonly ref: number; readonly seq: number }[];
}

/** How much of the log one call reads: it always reads at least one event. */
export interface ReadLimit {
	readonly maxEvents: number;
	readonly maxBytes: number;
}

/** Part of a body around the first match. */
export interface Excerpt {
	readonly excerpt: string;
	/** The match within it, in UTF-16 units. */
	readonly matchStart: number;
	readonly matchLength: number;
}

export interface FoundText extends EventSummary, Excerpt {
	/** Milliseconds since the Unix epoch. Publishers choose when an event was created; this follows the log's order. */
	readonly publishedAt: number;
}

/** A text in a response. */
export interface FoundResponse extends Excerpt {
	readonly attempt: AttemptSummary;
	/** When its event was generated; milliseconds since the Unix epoch. */
	readonly createdAt: number;
}

/** One step of a search through the bodies of a log, newest first. */
export interface TextStep {
	readonly found: readonly FoundText[];
	readonly events: number;
	/** When the oldest event that was read was published; null if none was. */
	readonly reached: number | null;
	/** Continue before this number; null at the beginning of the log. */
	readonly next: number | null;
}

/** One step of a search through the recorded responses of the delivery log, newest first. */
export interface ResponseStep {
	readonly found: readonly FoundResponse[];
	readonly attempts: number;
	/** When the oldest attempt that was read started; null if none was. */
	readonly reached: number | null;
	/** Continue before this attempt id; null at the beginning of the log. */
	readonly next: string | null;
}

export interface SearchStorage {
	/**
	 * Searches recorded responses for a text, from before the attempt `before` (or from the end) backwards. Those of test
	 * events are left out.
	 *
	 * @param limit attempts instead of events
	 */
	searchResponses(
		p: ProjectRef & { readonly text: string; readonly before: string | null; readonly limit: ReadLimit },
	): Promise<ResponseStep>;
}
