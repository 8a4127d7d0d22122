import type { Clock } from "../../base/clock.ts";
import { connectionConfig, prepareDatabase } from "./connection.ts";
import { Database } from "./database.ts";
import { daysAhead, makeDays } from "./partitions.ts";
import { PostgresStorage } from "./storage.ts";

export { prepareDatabase as migratePostgres } from "./connection.ts";
export type { PostgresStorage } from "./storage.ts";

export interface PostgresOptions {
	/** `postgres://user:password@host/database`; the database must be there, and its user may create a schema in it. */
	readonly url: string;
	/** The node's clock. Leases do not depend on it, so nodes' clocks may differ. */
	readonly clock: Pick<Clock, "now">;
	/** How long a lease holds unless it is renewed, in milliseconds. */
	readonly leaseTermMs: number;
	/** Whether leases go by `clock` instead of the database's own: for tests that move time. */
	readonly leasesByClock?: boolean;
}

/**
 * Opens a database that many nodes may share, and brings it up to date (PostgreSQL 14 or later). Rejects with a
 * StorageError: `lost` when it cannot be reached, `unusable` when it refuses this user or is newer than this version.
 */
export async function openPostgresStorage(options: PostgresOptions): Promise<PostgresStorage> {
	const { url, clock, leaseTermMs, leasesByClock = false } = options;
	await prepareDatabase(url);
	const connection = connectionConfig(url);
	const database = new Database(connection);
	try {
		await database.run((connections) => connections.transaction("engine", (c) => makeDays(c, daysAhead(clock.now()))));
		return new PostgresStorage(database, { connection, clock, leaseTermMs, leasesByClock });
	} catch (error) {
		await database.close();
		throw error;
	}
}
