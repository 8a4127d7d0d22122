import type { Clock } from "../../../src/base/clock.ts";
import type { DatabaseObserver, Storage } from "../../../src/storage/port.ts";
import type { MemoryDatabase } from "./database.ts";
import { freeAllLeases } from "./leases.ts";
import { MemoryNode } from "./node.ts";
import { storageOf } from "./storage.ts";

export { MemoryDatabase, type MemoryDatabaseOptions, type Snapshot } from "./database.ts";

export interface MemoryOptions {
	readonly database: MemoryDatabase;
	/** The node's clock. Leases use the database's, so nodes' clocks may differ. */
	readonly clock: Pick<Clock, "now">;
	/** How long a lease lasts unless renewed, in milliseconds. */
	readonly leaseTermMs: number;
	/**
	 * Whether other nodes may share the database, as they do by default. Otherwise the node is alone: earlier nodes are
	 * gone, and their leases are free.
	 */
	readonly manyNodes?: boolean;
	/** Notified of leases taken over, and of events that a failover lost. */
	readonly observer?: DatabaseObserver;
}

/**
 * A node's access to a database in memory. A call takes effect before it returns its promise, unless it waits for a
 * project's rows or for the next epoch, so delays and failures are injected before or after it. If a call is delayed,
 * compare `epoch` before and after: a call from before a failover reaches no database, and is `lost`.
 */
export async function openMemoryStorage(options: MemoryOptions): Promise<Storage> {
	const { database, clock, leaseTermMs, manyNodes = true, observer = {} } = options;
	const node = new MemoryNode(database, { clock, leaseTermMs, observer });
	if (!manyNodes) database.transaction(() => freeAllLeases(node));
	return storageOf(node, manyNodes);
}
