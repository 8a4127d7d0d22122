import type { ProjectRef } from "./registry.ts";
/**
 * An event as its project's log holds it. `seq` is its place: 1, 2, 3 … without gaps, in the order of generation.
 *
 * Test events (a sample sent to one webhook) are stored beside the log: they are numbered downward from −1, so that
 * everything that refers to an event does so by (project, seq), while no reader of the log ever meets one.
 */
export interface LogEvent {
	readonly seq: number;
	readonly id: string;
	readonly type: string;
	/** When it was generated, as the envelope says; milliseconds since the Unix epoch. */
	readonly createdAt: number;
	/** When it was appended; retention counts from here. */
	readonly publishedAt: number;
	/** The exact bytes of the envelope. */
	readonly body: Uint8Array;
}

export interface NewEvent {
	readonly id: string;
	readonly type: string;
	readonly createdAt: number;
	/** Whether the publisher named the time; if not, it plays no part in whether two events are the same. */
	readonly createdAtGiven: boolean;
	readonly body: Uint8Array;
}

/** One publish call: all of its events are appended, or none. */
export interface AppendRequest {
	readonly projectId: string;
	readonly publishedAt: number;
	readonly events: readonly NewEvent[];
	/** A call before may have appended it: if so, that is what is answered, and nothing of it is `repeated`. */
	readonly maybeWritten?: boolean;
}

export type AppendResult =
	| { readonly kind: "appended"; readonly events: readonly AppendedEvent[] }
	/** Events whose id is taken by other content, by their index in the request. Nothing was written. */
	| { readonly kind: "conflict"; readonly indexes: readonly number[] }
	| { readonly kind: "no_project" }
	/**
	 * Somebody else holds the project's rows. Nothing was written, unless a connection broke before that: then the request
	 * is to be made again as `maybeWritten`.
	 */
	| { readonly kind: "locked"; readonly maybeWritten?: boolean };

/** How a call that works for several projects meets one whose rows somebody else holds. */
export interface LockOptions {
	/**
	 * Whether it may wait for the lock, for a moment: only for calls that work for one project. The others never wait, and
	 * answer `locked` for that project alone.
	 */
	readonly waits?: boolean;
}

export interface AppendedEvent {
	readonly seq: number;
	/** As stored: for a repeated event that of the first time. */
	readonly createdAt: number;
	/** The same event had been published before; nothing was appended for it. */
	readonly repeated: boolean;
}

export interface LogWindow {
	/** At most this many events, … */
	readonly maxEvents: number;
	/** … and at most this many bytes of bodies, but always at least one event if there is one. */
	readonly maxBytes: number;
}

/** Where a log ends. */
export interface LogEnd {
	readonly lastSeq: number;
	/** The last event that both this log and that of the epoch asked for hold; null where nothing was lost in between. */
	readonly kept: number | null;
}

export interface LogStorage {
	/** Where the project's log ends, and where it parted from that of the epoch `since`; null when there is no project. */
	readLogEnd(p: ProjectRef & { readonly since?: string | undefined }): Promise<LogEnd | null>;

	/**
	 * Appends the requests in their order, in one durable transaction; each is atomic by itself. Numbers events from
	 * the project's last `seq`, and rings the alarm of every project that got one. Either all requests of a project are
	 * `locked`, or none.
	 */
	appendEvents(p: LockOptions & { readonly requests: readonly AppendRequest[] }): Promise<AppendResult[]>;

	/** The log behind `after`, in order. `types` leaves out the others. Test events are never in it. */
	readLog(
		p: ProjectRef & {
			readonly after: number;
			readonly window: LogWindow;
			readonly types?: readonly string[] | undefined;
		},
	): Promise<LogEvent[]>;

	/** Events by their numbers, in no particular order; numbers that are not there are left out. */
	readEvents(p: ProjectRef & { readonly seqs: readonly number[] }): Promise<LogEvent[]>;

	/** An event by its id (a test event, too), or null. */
	findEvent(p: ProjectRef & { readonly eventId: string }): Promise<LogEvent | null>;
}
