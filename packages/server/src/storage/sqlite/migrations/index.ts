import { readFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { StorageError } from "../../port.ts";
import { storageError } from "../connection/errors.ts";
import { isInUse, openToRead } from "../connection/reading.ts";

/** A database's version is how many of them it has. */
export const MIGRATIONS: readonly string[] = readFileSync(new URL("./migrations.sql", import.meta.url), "utf8")
	.split(/^-- Migration .*$/m)
	.slice(1);

/** Marks the file as ours (`PRAGMA application_id`): "phrn". */
export const APPLICATION_ID = 0x7068726e;

/** Migrates the schema, each step in its own transaction. */
export function migrate(db: DatabaseSync, path: string): void {
	const version = checkOurs(db, path);
	for (let next = version; next < MIGRATIONS.length; next++) {
		db.exec("BEGIN IMMEDIATE");
		try {
			db.exec(MIGRATIONS[next]!);
			db.exec(`PRAGMA user_version = ${next + 1}; PRAGMA application_id = ${APPLICATION_ID}; COMMIT`);
		} catch (error) {
			if (db.isTransaction) db.exec("ROLLBACK");
			throw error;
		}
	}
}

/** How many migrations the database has. Throws a StorageError if it belongs to another program or a newer version. */
function checkOurs(db: DatabaseSync, path: string): number {
	const version = pragma(db, "user_version");
	const application = pragma(db, "application_id");
	const empty = db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
	if (!empty && application !== APPLICATION_ID)
		throw new StorageError("unusable", `${path} is another program's database: Posthorn needs a separate file.`);
	if (version > MIGRATIONS.length)
		throw new StorageError(
			"unusable",
			`${path} was written by a newer version of Posthorn (schema ${version}; this one knows ${MIGRATIONS.length}): ` +
				"start that version, or restore a backup made before the upgrade.",
		);
	return version;
}

function pragma(db: DatabaseSync, name: "user_version" | "application_id"): number {
	return Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
}

/**
 * Reads a setting of an existing database without changing anything; null if it isn't set. Throws a StorageError
 * `unusable`, as opening would, if the file is damaged, another program's, or written by a newer version.
 *
 * @param translate makes the StorageError; `backupError` for a backup
 */
export function readSqliteSetting(path: string, name: string, translate = storageError): string | null {
	try {
		// Opening a database that isn't in use would leave files next to it that belong to this user.
		const db = openToRead(path, !isInUse(path));
		try {
			checkOurs(db, path);
			const made = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'settings'").get() !== undefined;
			const row = made ? db.prepare("SELECT value FROM settings WHERE name = ?").get(name) : undefined;
			return row === undefined ? null : String(row.value);
		} finally {
			db.close();
		}
	} catch (error) {
		throw translate(error, path);
	}
}
