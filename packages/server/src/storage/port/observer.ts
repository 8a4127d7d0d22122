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
}

/** What connections are for; each kind is a pool of its own. */
export type ConnectionUse = "publish" | "settle" | "engine" | "people";

/** The connections of a pool at a moment. */
export interface PoolState {
	/** Connections that somebody works with. */
	readonly busy: number;
	readonly idle: number;
	/** Calls that wait for one. */
	readonly waiting: number;
}
