import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Only the service's user may read a database: it holds customers' data and sealed secrets. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Makes the file's folder, and those above it that are missing. */
export function makeFolder(path: string): void {
	mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
}

/** Makes an empty file for SQLite, if there is none: the files that SQLite puts beside it get its mode. */
export function makeFile(path: string): void {
	closeSync(openSync(path, "a", FILE_MODE));
}
