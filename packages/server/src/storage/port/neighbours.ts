import type { AlarmMark, Lease } from "./delivery.ts";

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
	 * Calls `listener` when the database is found to have gone on from an earlier state, as after a failover to a standby
	 * that lacked the last commits, and before anything is read or written there. No lease taken before is good for anything
	 * any more, and whatever was read before may be wrong. For a term after that only leases that this node held are given
	 * to it, as `acquireLeases` says.
	 *
	 * @returns ends it
	 */
	onEpoch(listener: () => void): () => void;
	/**
	 * Calls `listener` soon after another node gave projects work or changed them. A hint: it may come late, twice, or not
	 * at all.
	 *
	 * @returns ends it
	 */
	subscribe(listener: (projectIds: readonly string[]) => void): () => void;
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
