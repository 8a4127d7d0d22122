import type { AlarmMark, Lease, NewAttempt } from "./delivery.ts";

/**
 * What nodes that share a database tell each other of the projects that they work. The holder of a lease hears no alarm:
 * it reads marks, regularly and when it hears of news. Whoever changes a project that another node works waits until that node goes by
 * the change.
 */
export interface NeighbourStorage {
	/** Where these projects stand now; those that are not there are left out. */
	readMarks(projectIds: readonly string[]): Promise<ReadonlyMap<string, AlarmMark>>;
	/**
	 * Records by which revision of its project each holder of a lease goes. For leases that passed on nothing is recorded.
	 * @returns those that could not be recorded, since somebody else holds the lease's row: to be told again
	 */
	acknowledge(acknowledgements: readonly Acknowledgement[]): Promise<Acknowledgement[]>;
	/** Whether nobody goes by less than this revision: the project's lease is free, over, or acknowledged as far. */
	isInForce(projectId: string, revision: number): Promise<boolean>;
	/** Reports that this node lives, for about the term of a lease; answers what there is to share, itself included. */
	share(holder: string): Promise<Share>;
	/** This node takes no share any more. */
	leave(holder: string): Promise<void>;
	/**
	 * Calls `listener` when the database is found in another epoch, before anything is read or written there. Its state may
	 * be an earlier one, as after a failover to a standby that lacked the last commits: whatever was read before may be
	 * wrong, and no lease taken before is valid, except those that `keeper` is told of. For a term after that only leases
	 * that this node held are given to it, as `acquireLeases` says.
	 *
	 * @returns ends it
	 */
	onEpoch(listener: () => void, keeper?: EpochKeeper): () => void;
	/**
	 * Calls `listener` soon after another node gave projects work or changed them. A hint: it may come late, twice, or not
	 * at all.
	 *
	 * @returns ends it
	 */
	subscribe(listener: (projectIds: readonly string[]) => void): () => void;
}

/** Keeps a node's projects through a change of epoch, as far as the database has lost nothing of them. */
export interface EpochKeeper {
	/** What the node knows. Asked when the next epoch is reached, after `listener` was called. */
	claims(): readonly Claim[];
	/**
	 * The next epoch is reached, and nothing was read or written there yet. `kept` are the leases of the claims that hold,
	 * with their new generations; all others are lost. For `opensInMs` another node may still use a lease that the database
	 * has lost.
	 */
	begun(kept: readonly Lease[], opensInMs: number): void;
}

/** What a node knows of a project that it works. */
export interface Claim {
	readonly lease: Lease;
	readonly holder: string;
	/** The revision that it applies. */
	readonly revision: number;
	/** The end of the log, as far as it knows. */
	readonly lastSeq: number;
	/** The last event that it knows itself; it relies on no later one. Null: only on what was there when the lanes were loaded. */
	readonly event: { readonly seq: number; readonly id: string } | null;
	/** The last attempt that it committed under this lease, or null. */
	readonly attempt: Pick<NewAttempt, "id" | "webhookId" | "seq" | "replay" | "attempt"> | null;
}

export interface Share {
	/** Nodes that live. */
	readonly nodes: number;
	/** Projects that are worked, or have work. */
	readonly projects: number;
}

export interface Acknowledgement {
	readonly lease: Lease;
	readonly revision: number;
}
