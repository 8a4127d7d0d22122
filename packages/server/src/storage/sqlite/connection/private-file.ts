import { chmodSync, closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Only the service's user may read a database: it contains customers' data and sealed secrets. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const OTHERS = 0o077;

/** Creates the file's folder and its missing parents. */
export function makeFolder(path: string): void {
	mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
}

/**
 * Creates an empty file for SQLite if it doesn't exist. SQLite gives its mode to the files next to it. Files of earlier
 * versions, which others could read, become private.
 */
export function makeFile(path: string): void {
	closeSync(openSync(path, "a", FILE_MODE));
	for (const each of [path, `${path}-wal`, `${path}-shm`]) makePrivate(each);
}

function makePrivate(path: string): void {
	const found = statSync(path, { throwIfNoEntry: false });
	// Only the owner may change the mode; others can't help it.
	if (found !== undefined && (found.mode & OTHERS) !== 0 && found.uid === process.getuid?.())
		chmodSync(path, FILE_MODE);
}
