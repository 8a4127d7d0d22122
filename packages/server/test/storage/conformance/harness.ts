import type { Clock } from "../../../src/base/clock.ts";
import type { Storage } from "../../../src/storage/port.ts";

/** How the suite accesses an engine. */
export interface StorageHarness {
	readonly name: string;
	/** Whether several nodes may share the database. */
	readonly manyNodes: boolean;
	/** The lease duration with which `open` opens, in milliseconds. */
	readonly leaseTermMs: number;
	/** Opens a new, empty database. */
	open(options: { clock: Pick<Clock, "now"> }): Promise<Storage>;
	/** Closes the storage and opens its database again, as after a restart. */
	reopen(storage: Storage): Promise<Storage>;
	/** Closes the storage and removes its database. */
	dispose(storage: Storage): Promise<void>;
}
