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

/** Events that contain a reference. */
export interface ReferencedEvents extends IndexCoverage {
	/** Newest first, `limit` at most. */
	readonly events: readonly EventSummary[];
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

export interface FoundText extends EventSummary {
	/** Part of the body around the first match. */
	readonly excerpt: string;
	/** The match within it, in UTF-16 units. */
	readonly matchStart: number;
	readonly matchLength: number;
}

/** One step of a search through the bodies of a log, newest first. */
export interface TextStep {
	readonly found: readonly FoundText[];
	readonly events: number;
	/** When the oldest event that was read was created; null if none was. */
	readonly reached: number | null;
	/** Continue before this number; null at the beginning of the log. */
	readonly next: number | null;
}

/**
 * Finding events by what is in them. References are indexed after publishing, in steps that any node may take, so that
 * publishing costs the same. Test events aren't indexed.
 */
export interface SearchStorage {
	/**
	 * The next part that isn't indexed: first what was published since, oldest first, then older events, newest first.
	 * Null if there is none.
	 */
	readUnindexed(p: ProjectRef & { readonly limit: ReadLimit }): Promise<UnindexedPart | null>;
	/** Adds a part to the index, unless another node has done so. Returns whether it was added. */
	indexReferences(p: ProjectRef & { readonly part: UnindexedPart }): Promise<boolean>;
	/** The newest events that contain the reference. */
	findReferences(
		p: ProjectRef & { readonly reference: EventReference; readonly limit: number },
	): Promise<ReferencedEvents>;
	/** Deletes references of events that retention has deleted, in steps. Returns whether more are left. */
	sweepReferences(p: ProjectRef): Promise<boolean>;
	/** Searches bodies for a text, from before the number `before` (or from the end) backwards. */
	searchBodies(
		p: ProjectRef & { readonly text: string; readonly before: number | null; readonly limit: ReadLimit },
	): Promise<TextStep>;
}
