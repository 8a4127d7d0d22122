import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { storageError } from "./errors.ts";
import { checkOurs } from "./migrate.ts";

/** Whoever works on it holds a lock for moments only. */
const BUSY_TIMEOUT_MS = 5000;

/**
 * A setting of a database that is there, read without changing anything; null when it has none of that name yet. Throws
 * a StorageError `unusable` as opening it would: the file is damaged, another program's, or of a newer version.
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
 * A database that nobody works on is read as it lies there, for opening it otherwise leaves files beside it, which belong
 * to whoever looked (https://www.sqlite.org/wal.html#readonly).
 */
function place(path: string): URL {
	const url = pathToFileURL(resolve(path));
	const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
	if (!existsSync(`${path}-shm`) && (log?.size ?? 0) === 0) url.searchParams.set("immutable", "1");
	return url;
}
