import { accessSync, constants, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { codeOf } from "../../../base/folders.ts";
import { StorageError } from "../../port.ts";
import { BUSY_TIMEOUT_MS } from "./connection.ts";
import { isUnopened } from "./errors.ts";
import { targetOf } from "./files.ts";

/** SQLite would report a disk error for a folder, and wait forever for someone to write to a named pipe. */
function refuseOtherThanFiles(path: string): void {
	if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
		throw new StorageError("unusable", `${path} is not a file: give the path of a database.`);
}

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size;

/** Whether a database is open somewhere, or was when its process was killed, so that commits may be in its log. */
export function isInUse(path: string): boolean {
	// SQLite follows a link, too, before it adds the endings.
	const target = targetOf(resolve(path));
	return sizeOf(`${target}-shm`) !== undefined || (sizeOf(`${target}-wal`) ?? 0) > 0;
}

/**
 * Opens a database only to read it. Where nothing can be written, SQLite can't share it with others
 * (https://www.sqlite.org/wal.html#readonly): it is read as it is, if no commits are in its log.
 *
 * Throws a StorageError `unusable` if they are, or it isn't a file, and SQLite's error if it can't be read otherwise.
 *
 * @param immutable whether nothing changes it meanwhile, so that SQLite neither locks it nor creates files next to it
 */
export function openToRead(path: string, immutable = isReadOnly(path) && !isInUse(path)): DatabaseSync {
	refuseOtherThanFiles(path);
	const target = targetOf(resolve(path));
	const url = pathToFileURL(target);
	if (immutable) url.searchParams.set("immutable", "1");
	const db = new DatabaseSync(url, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
	try {
		db.exec("SELECT 1 FROM sqlite_schema LIMIT 1");
	} catch (error) {
		db.close();
		if (!isUnopened(error) || !isReadOnly(path)) throw error;
		throw new StorageError(
			"unusable",
			`${path} is on a read-only file system, and its last commits are in ${target}-wal: copy both to a folder that can be ` +
				"written to, and use that copy.",
			{ cause: error },
		);
	}
	return db;
}

function isReadOnly(path: string): boolean {
	try {
		accessSync(dirname(targetOf(resolve(path))), constants.W_OK);
		return false;
	} catch (error) {
		return codeOf(error) === "EROFS";
	}
}
