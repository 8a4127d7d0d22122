import type { Clock } from "../../base/clock.ts";
import type { Storage } from "../port.ts";
import { Channel } from "./channel.ts";
import { SqliteStorage } from "./storage.ts";

export { backupSqlite } from "./backup.ts";
export { readSqliteSetting } from "./examine.ts";

export interface SqliteOptions {
	/** The database file; it and its directory are made when they are not there. */
	readonly path: string;
	readonly clock: Pick<Clock, "now">;
	/** How long a lease holds unless it is renewed, in milliseconds. */
	readonly leaseTermMs: number;
}

/**
 * Opens the database for this process alone, and brings it up to date. Rejects with a StorageError: `in_use` when
 * another process works on it, `unusable` when the file is damaged, newer than this version, or cannot be written.
 */
export async function openSqliteStorage({ path, clock, leaseTermMs }: SqliteOptions): Promise<Storage> {
	const writer = await Channel.open({ path, role: "writer" });
	try {
		const reader = await Channel.open({ path, role: "reader" });
		return new SqliteStorage(writer, reader, clock, leaseTermMs);
	} catch (error) {
		await writer.close();
		throw error;
	}
}
