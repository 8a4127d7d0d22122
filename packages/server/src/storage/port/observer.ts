/** Receives what happens to a storage's database connections, for metrics. */
export interface DatabaseObserver {
	/** A transaction committed, this many seconds after it began. */
	committed?(use: ConnectionUse, seconds: number): void;
	/** A transaction conflicted with another one, and is retried. */
	repeated?(use: ConnectionUse): void;
	/** A connection was opened. */
	connected?(use: ConnectionUse): void;
	/** A connection broke. */
	disconnected?(use: ConnectionUse): void;
	/** Leases expired and were taken over: another node died or hangs. */
	takenOver?(projects: number): void;
	/** Acknowledged events are missing: the database continued from an earlier state, as after a failover. */
	lostTail?(tail: LostTail): void;
}

/** Acknowledged events that the log lacks: those after `kept`, up to `lost`. */
export interface LostTail {
	readonly projectId: string;
	readonly kept: number;
	readonly lost: number;
	/** How many of them are newly found. */
	readonly count: number;
}

/** What connections are used for. Each use has its own pool. */
export type ConnectionUse = "publish" | "settle" | "engine" | "people" | "waiting";

/** A pool's current connections. */
export interface PoolState {
	/** Connections in use. */
	readonly busy: number;
	readonly idle: number;
	/** Calls waiting for one. */
	readonly waiting: number;
}
