import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Only the service's user may read a database: it contains customers' data and sealed secrets. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Creates the file's folder and its missing parents. */
export function makeFolder(path: string): void {
	mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
}

/** Creates an empty file for SQLite if it doesn't exist. SQLite gives its mode to the files next to it. */
export function makeFile(path: string): void {
	closeSync(openSync(path, "a", FILE_MODE));
}
