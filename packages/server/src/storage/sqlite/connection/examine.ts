import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { storageError } from "./errors.ts";
import { checkOurs } from "./migrate.ts";

/** Other connections hold locks only briefly. */
const BUSY_TIMEOUT_MS = 5000;

/**
 * Reads a setting of an existing database without changing anything; null if it isn't set. Throws a StorageError
 * `unusable`, as opening would, if the file is damaged, another program's, or written by a newer version.
 */
export function readSqliteSetting(path: string, name: string): string | null {
	try {
		const db = new DatabaseSync(place(path), { readOnly: true, timeout: BUSY_TIMEOUT_MS });
		try {
			checkOurs(db, path);
			const made = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'settings'").get() !== undefined;
			const row = made ? db.prepare("SELECT value FROM settings WHERE name = ?").get(name) : undefined;
			return row === undefined ? null : String(row.value);
		} finally {
			db.close();
		}
	} catch (error) {
		throw storageError(error, path);
	}
}

/**
 * A database that isn't in use is read as immutable. Opening it normally would leave files next to it that belong to
 * the reader's user (https://www.sqlite.org/wal.html#readonly).
 */
function place(path: string): URL {
	const url = pathToFileURL(resolve(path));
	const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
	if (!existsSync(`${path}-shm`) && (log?.size ?? 0) === 0) url.searchParams.set("immutable", "1");
	return url;
}
