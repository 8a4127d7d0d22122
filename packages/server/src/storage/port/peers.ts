import type { AlarmMark, Lease, NewAttempt } from "./delivery.ts";

/**
 * How nodes that share a database coordinate. The holder of a lease isn't woken by the project's alarm: it reads marks,
 * regularly and after hints. A node that changes a project which another node runs waits until that node applies the
 * change.
 */
export interface PeerStorage {
	/** The current marks of these projects, without those that don't exist. */
	readMarks(p: { readonly projectIds: readonly string[] }): Promise<ReadonlyMap<string, AlarmMark>>;
	/**
	 * Records the revision that each lease holder applies. Leases that have changed hands are ignored.
	 * @returns those whose lease row another session has locked: record them again later
	 */
	acknowledge(p: { readonly acknowledgements: readonly Acknowledgement[] }): Promise<Acknowledgement[]>;
	/**
	 * Whether no node applies an earlier revision: the project's lease is free, has expired, or has acknowledged this
	 * one.
	 */
	isInForce(p: { readonly projectId: string; readonly revision: number }): Promise<boolean>;
	/**
	 * Reports that this node is alive, for about a lease's duration. Returns the work to share, including this node's own,
	 * and when storage should next be asked for work.
	 */
	share(p: { readonly holder: string }): Promise<Share>;
	/** When the next lease ends unless it's renewed, on this node's clock; null if there is none that is still held. */
	nextEnd(): Promise<number | null>;
	/** This node stops taking a share. */
	leave(p: { readonly holder: string }): Promise<void>;
	/**
	 * Makes this node the one that sweeps, for `termMs` unless it calls this again. Returns false if another node sweeps,
	 * or if it isn't time for the next pass yet. `early`: then it sweeps regardless.
	 */
	takeSweep(p: { readonly holder: string; readonly termMs: number; readonly early: boolean }): Promise<boolean>;
	/** This node has swept: the next pass is due after `restMs`, on any node. Does nothing if another node sweeps. */
	endSweep(p: { readonly holder: string; readonly restMs: number }): Promise<void>;
	/**
	 * Calls `listener` when the database turns out to be in another epoch, before anything is read or written there.
	 * Its state may be an earlier one, as after a failover to a standby that lacked the last commits. So everything
	 * read before may be wrong, and no earlier lease is valid, except those that `keeper` is given. For a lease's
	 * duration after that, nodes can acquire only leases that they held themselves, see `acquireLeases`.
	 *
	 * @returns unsubscribes
	 */
	onEpoch(listener: () => void, keeper?: EpochKeeper): () => void;
	/**
	 * Calls `listener` soon after another node gave projects work or changed them, or released one with an alarm within
	 * {@link HINTED_MS}. A hint: it may come late, twice or never.
	 *
	 * @returns unsubscribes
	 */
	subscribe(listener: HintListener): () => void;
}

/**
 * Released projects that are due sooner are hinted at, milliseconds. Nodes learn of later alarms from their reports, long
 * before they are due.
 */
export const HINTED_MS = 20_000;

/** @param unowned those of the projects that have work, and may have no holder */
export type HintListener = (projectIds: readonly string[], unowned: readonly string[]) => void;

/** Keeps a node's projects through a change of epoch, if the database lost nothing of them. */
export interface EpochKeeper {
	/** What the node knows. Called when the next epoch is reached, after `listener`. */
	claims(): readonly Claim[];
	/**
	 * The next epoch is reached, and nothing was read or written in it yet. `kept` are the claimed leases that still
	 * hold, with new generations; all others are lost. For `opensInMs`, another node may still use a lease that the
	 * database has lost.
	 */
	begun(kept: readonly Lease[], opensInMs: number): void;
}

/** What a node knows about a project that it runs. */
export interface Claim {
	readonly lease: Lease;
	readonly holder: string;
	/** The revision that it applies. */
	readonly revision: number;
	/** The last known end of the log. */
	readonly lastSeq: number;
	/**
	 * The last event that it read or appended, or null: it relies on none after the end of the log when it loaded the
	 * lanes.
	 */
	readonly event: { readonly seq: number; readonly id: string } | null;
	/** The last attempt that it committed under this lease, or null. */
	readonly attempt: Pick<NewAttempt, "id" | "webhookId" | "seq" | "replay" | "attempt"> | null;
}

export interface Share {
	/** Nodes that are alive. */
	readonly nodes: number;
	/** Projects that are leased or due. */
	readonly projects: number;
	/** The earliest alarm, due or not, on this node's clock; null if there is none. */
	readonly nextAlarm: number | null;
	/** When the first lease ends unless it's renewed, on this node's clock; null if there is none. */
	readonly nextEnd: number | null;
}

export interface Acknowledgement {
	readonly lease: Lease;
	readonly revision: number;
}

/** Receives what happens to a storage's database connections, for metrics. */
export interface DatabaseObserver {
	/** A transaction committed, this many seconds after it began. */
	committed?(use: ConnectionUse, seconds: number): void;
	/** A transaction conflicted with another one, and is retried. */
	repeated?(use: ConnectionUse): void;
	connected?(use: ConnectionUse): void;
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
export type ConnectionUse = "publish" | "settle" | "engine" | "access" | "people" | "waiting";

/** A pool's current connections. */
export interface PoolState {
	/** Connections in use. */
	readonly busy: number;
	readonly idle: number;
	/** Calls waiting for one. */
	readonly waiting: number;
}
