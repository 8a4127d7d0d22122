/**
 * Where receivers remember events. A claim is a lease: it lasts until the handler ends, and is renewed meanwhile, so that
 * an event whose handler died with its process is free again after at most one lease.
 *
 * Every call is atomic, also between processes. `token` names the holder of a claim. Calls of a holder that has lost its
 * claim to another have no effect. All durations are in milliseconds. A rejected promise means that the store is
 * unavailable; the request then gets 503, and Posthorn tries it again.
 */
export interface Store {
	/** Claims an event unless it is done, or another claim on it is still valid. */
	claim(key: string, token: string, leaseMs: number): Promise<Claim>;
	/** Extends a claim. False if it was lost. */
	renew(key: string, token: string, leaseMs: number): Promise<boolean>;
	/** Marks the event as done. False if the claim was lost. */
	finish(key: string, token: string): Promise<boolean>;
	/** Ends a claim without doing the event, which can be claimed again after `delayMs`. */
	release(key: string, token: string, delayMs: number): Promise<void>;
}

export type Claim = "claimed" | "in_progress" | "done";

/** A store that also keeps the events themselves until they are done. */
export interface InboxStore extends Store {
	/**
	 * Stores an event. It is durable once this resolves. False if it is done or stored already. An event that was only
	 * claimed is stored, too, and is due if the claim ends before the event is done: its receiver had no inbox.
	 */
	put(key: string, body: string): Promise<boolean>;
	/** Claims the event that has been due longest; undefined if none is. */
	next(token: string, leaseMs: number): Promise<InboxEntry | undefined>;
}

export interface InboxEntry {
	readonly key: string;
	/** The event's body as it was signed. */
	readonly body: string;
	/** How often the event has been claimed, this time included. */
	readonly tries: number;
}

/** How long finished events are remembered, days: one more than Posthorn's default retention, in which it can replay them. */
export const KEEP_DAYS = 31;
export const DAY_MS = 86_400_000;

/** PostgreSQL has no times that are much further back than this. */
const MOST_DAYS = 1_000_000;

/** Throws a RangeError for days that forget events immediately, such as NaN, or go further back than every store can. */
export function checkedKeepDays(keepDays: number): number {
	if (typeof keepDays === "number" && keepDays > 0 && keepDays <= MOST_DAYS) return keepDays;
	throw new RangeError(`keepDays is ${keepDays}; give a number of days above 0, at most 1000000.`);
}
