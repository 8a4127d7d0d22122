import type { Clock } from "../../../src/base/clock.ts";
import type { Capabilities, Storage } from "../../../src/storage/port.ts";

/** How the suite gets at an engine. */
export interface StorageHarness {
	readonly name: string;
	/** What the engine declares; the suite holds it to that. */
	readonly capabilities: Capabilities;
	/** The term of leases, in milliseconds, with which `open` opens. */
	readonly leaseTermMs: number;
	/** Opens a new and empty database. */
	open(options: { clock: Pick<Clock, "now"> }): Promise<Storage>;
	/** Closes the storage and opens its database again, as after a restart. */
	reopen(storage: Storage): Promise<Storage>;
	/** Closes the storage and removes its database. */
	dispose(storage: Storage): Promise<void>;
}
