/** Told by a storage that keeps connections to a database how it fares: for metrics. */
export interface DatabaseObserver {
	/** A transaction was committed, this many seconds after it began. */
	committed?(use: ConnectionUse, seconds: number): void;
	/** A transaction lost against another one, and is done again. */
	repeated?(use: ConnectionUse): void;
	/** A connection was opened. */
	connected?(use: ConnectionUse): void;
	/** A connection broke. */
	disconnected?(use: ConnectionUse): void;
	/** Projects were taken whose leases nobody had given back: another node died or hangs. */
	takenOver?(projects: number): void;
	/** Events that were acknowledged are missing: the database went on from an earlier state, as after a failover. */
	lostTail?(tail: LostTail): void;
}

/** Acknowledged events that the log lacks: those behind `kept`, up to `lost`. */
export interface LostTail {
	readonly projectId: string;
	readonly kept: number;
	readonly lost: number;
	/** How many of them no node had found before. */
	readonly count: number;
}

/** What connections are for; each kind is a pool of its own. */
export type ConnectionUse = "publish" | "settle" | "engine" | "people" | "waiting";

/** The connections of a pool at a moment. */
export interface PoolState {
	/** Connections that somebody works with. */
	readonly busy: number;
	readonly idle: number;
	/** Calls that wait for one. */
	readonly waiting: number;
}
