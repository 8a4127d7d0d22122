import type { ProjectRef } from "./registry.ts";
/**
 * An event in its project's log. `seq` is its sequence number: 1, 2, 3 … without gaps, in the order of generation.
 *
 * Test events (a sample sent to one webhook) are stored outside the log. They are numbered downward from −1, so that
 * everything can refer to an event by (project, seq) while readers of the log never see one.
 */
export interface LogEvent {
	readonly seq: number;
	readonly id: string;
	readonly type: string;
	/** When it was generated, as in the envelope; milliseconds since the Unix epoch. */
	readonly createdAt: number;
	/** When it was appended, which retention counts from; or the {@link cancelledMark} of a cancelled test event. */
	readonly publishedAt: number;
	/** The exact bytes of the envelope. */
	readonly body: Uint8Array;
}

/** An event without its body. */
export type EventSummary = Omit<LogEvent, "publishedAt" | "body">;

/**
 * The `publishedAt` of a test event whose series `replay` was cancelled: before every time. The event of a queued attempt
 * is read just before it is made, so the mark also reaches attempts that are scheduled after it was set.
 */
export const cancelledMark = (replay: number): number => -1 - replay;

export interface NewEvent extends Pick<LogEvent, "id" | "type" | "createdAt" | "body"> {
	/** Whether the publisher set the time. If not, it's ignored when two events are compared. */
	readonly createdAtGiven: boolean;
}

/** One publish call: all of its events are appended, or none. */
export interface AppendRequest {
	readonly projectId: string;
	readonly publishedAt: number;
	readonly events: readonly NewEvent[];
	/** An earlier call may have appended it. If it did, its events are returned as appended, not `repeated`. */
	readonly maybeWritten?: boolean;
}

export type AppendResult =
	| { readonly kind: "appended"; readonly events: readonly AppendedEvent[] }
	/** Indexes of events in the request whose id belongs to an event with other content. Nothing was written. */
	| { readonly kind: "conflict"; readonly indexes: readonly number[] }
	| { readonly kind: "no_project" }
	/**
	 * Another session has locked the project's rows. Nothing was written, unless a connection broke before that: then
	 * repeat the request as `maybeWritten`.
	 */
	| { readonly kind: "locked"; readonly maybeWritten?: boolean };

/** What a call for several projects does about one whose rows another session has locked. */
export interface LockOptions {
	/**
	 * Whether it may wait for the lock for a moment: only calls for one project may. Others never wait, and return
	 * `locked` for only that project.
	 */
	readonly waits?: boolean;
}

export interface AppendedEvent {
	readonly seq: number;
	/** As stored, which for a repeated event is the original time. */
	readonly createdAt: number;
	/** The same event was published before, so nothing was appended. */
	readonly repeated: boolean;
}

export interface LogEnd {
	readonly lastSeq: number;
	/** The last event in common with the log of the given epoch; null if nothing was lost since. */
	readonly kept: number | null;
}

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

/** Events that contain a reference, by their numbers. Those that retention has deleted may be among them. */
export interface ReferencedEvents extends IndexCoverage {
	/** Newest first, `limit` at most. */
	readonly seqs: readonly number[];
	/** Whether older ones were left out. */
	readonly capped: boolean;
}

/** The next part of a log that isn't indexed: its references, each as a number (see shared/bodies.ts). */
export interface UnindexedPart {
	/** The events from after this number … */
	readonly after: number;
	/** … through this one. */
	readonly through: number;
	/** Whether the rest of the log is indexed. */
	readonly isLast: boolean;
	readonly references: readonly { readonly ref: number; readonly seq: number }[];
}

/** How much of the log one call reads. */
export interface ReadLimit {
	/** At most this many events, … */
	readonly maxEvents: number;
	/** … and at most this many bytes of bodies, but always at least one event if there is one. */
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

/** One step of a search through the bodies of a log, newest first. */
export interface TextStep {
	readonly found: readonly FoundText[];
	readonly events: number;
	/** When the oldest event that was read was published; null if none was. */
	readonly reached: number | null;
	/** Continue before this number; null at the beginning of the log. */
	readonly next: number | null;
}

export interface LogStorage {
	/**
	 * Where the project's log ends, and where it diverged from that of the epoch `since`; null if the project doesn't
	 * exist.
	 */
	readLogEnd(p: ProjectRef & { readonly since?: string | undefined }): Promise<LogEnd | null>;

	/**
	 * Appends the requests in order in one transaction, each atomically. Numbers events after the project's last `seq`,
	 * and sets the alarm of every project that got one. Either all requests of a project are `locked`, or none.
	 */
	appendEvents(p: LockOptions & { readonly requests: readonly AppendRequest[] }): Promise<AppendResult[]>;

	/** The log after `after`, in order; with `types`, only events of these types. It never contains test events. */
	readLog(
		p: ProjectRef & {
			readonly after: number;
			readonly window: ReadLimit;
			readonly types?: readonly string[] | undefined;
		},
	): Promise<LogEvent[]>;

	/** Events by their numbers, in any order, without those that don't exist. */
	readEvents(p: ProjectRef & { readonly seqs: readonly number[] }): Promise<LogEvent[]>;
}
