import {
	chmodSync,
	closeSync,
	constants,
	existsSync,
	lstatSync,
	openSync,
	readlinkSync,
	realpathSync,
	statSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createFolder } from "../../../base/folders.ts";
import { StorageError } from "../../port.ts";
import { isBusy, isUnreadable } from "./errors.ts";

/** How long a starting process waits for one that is just stopping. */
const LOCK_WAIT_MS = 250;

/**
 * An exclusive lock on a database, held for the connection's lifetime. The lock is an open write transaction on a tiny
 * SQLite database next to it, which contains the holder's name. The operating system releases it however the process
 * dies, so it's never stale, and the name stays readable.
 */
export class ExclusiveLock {
	readonly path: string;
	readonly #db: DatabaseSync;

	/**
	 * Throws a StorageError: `in_use` that names the holder if another process or connection has the lock, `unusable` if
	 * its file is damaged.
	 */
	constructor(databasePath: string) {
		this.path = `${targetOf(databasePath)}.lock`;
		makeLockFile(this.path);
		this.#db = new DatabaseSync(this.path, { timeout: LOCK_WAIT_MS });
		try {
			this.#db.exec("CREATE TABLE IF NOT EXISTS holder (pid INTEGER, host TEXT, since TEXT)");
			this.#db.exec("BEGIN IMMEDIATE; DELETE FROM holder");
			const row = [process.pid, hostname(), new Date().toISOString()];
			this.#db.prepare("INSERT INTO holder VALUES (?, ?, ?)").run(...row);
			this.#db.exec("COMMIT; BEGIN IMMEDIATE");
		} catch (error) {
			const holder = isBusy(error) ? describeHolder(this.#db) : null;
			this.#db.close();
			if (isUnreadable(error))
				throw new StorageError("unusable", damagedLock(this.path, databasePath), { cause: error });
			if (holder === null) throw error;
			throw new StorageError("in_use", `${databasePath} is in use by ${holder}: stop it, or name another database.`);
		}
	}

	release(): void {
		this.#db.close();
	}
}

/** The file that a path leads to, even if it doesn't exist yet: a symbolic link is another name of the same database. */
export function targetOf(path: string): string {
	if (statSync(path, { throwIfNoEntry: false }) !== undefined) return realpathSync(path);
	const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
	return isLink ? targetOf(resolve(dirname(path), readlinkSync(path))) : path;
}

/** The operator has to delete it: without the file, a service that holds the lock would no longer keep others out. */
const damagedLock = (path: string, databasePath: string): string =>
	`${path} is damaged. It only keeps a second service from using ${databasePath}: stop every service that does, then delete it.`;

function describeHolder(db: DatabaseSync): string {
	try {
		const row = db.prepare("SELECT pid, host, since FROM holder").get();
		if (row !== undefined) return `process ${row.pid} on ${row.host} (since ${row.since})`;
	} catch (error) {
		// The holder is just writing its name.
		if (!isBusy(error)) throw error;
	}
	return "another process";
}

/** Only the service's user may read a database: it contains customers' data and sealed secrets. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const OTHERS = 0o077;

/** Creates the file's folder and its missing parents. */
export function makeFolder(path: string): void {
	createFolder(dirname(path), FOLDER_MODE);
}

/**
 * Creates an empty file for SQLite if it doesn't exist. SQLite gives its mode to the files next to it. Files of earlier
 * versions, which others could read, become private.
 */
export function makeFile(path: string): void {
	closeSync(openSync(path, "a", FILE_MODE));
	const target = targetOf(path);
	for (const end of ["", "-wal", "-shm"]) makePrivate(`${target}${end}`);
}

/**
 * Throws a StorageError `unusable` if the file has several names (hard links). By another name, a second service would
 * find neither the lock nor the log, and both would damage the database.
 */
export function refuseOtherNames(path: string): void {
	if (statSync(path).nlink <= 1) return;
	throw new StorageError(
		"unusable",
		`${path} has other names (hard links), by which a second service could open and damage it: delete those, or make them copies with posthorn backup. find / -xdev -samefile ${path} lists them.`,
	);
}

/** An unused path for a database that is replaced, or for its log. */
export function freeName(path: string): string {
	const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "");
	const name = `${path}.replaced-${time}`;
	for (let n = 1; ; n++) {
		const free = n === 1 ? name : `${name}-${n}`;
		if (!existsSync(free) && !existsSync(`${free}-wal`)) return free;
	}
}

/** Doesn't follow a link: a user who may write to the folder could have root create or change any file of the machine. */
function makeLockFile(path: string): void {
	const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_WRONLY } = constants;
	try {
		closeSync(openSync(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, FILE_MODE));
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code !== "ELOOP" && code !== "EACCES") throw error;
		const what = existsSync(path) ? path : dirname(path);
		const text =
			code === "ELOOP"
				? `${path} is a symbolic link, which isn't used: delete it.`
				: `${what} cannot be written to (${code}): give it to the service's user, or run this command as that user.`;
		throw new StorageError("unusable", text, { cause: error });
	}
	makeFile(path);
}

function makePrivate(path: string): void {
	const found = lstatSync(path, { throwIfNoEntry: false });
	if (found?.isSymbolicLink()) return;
	// Only the owner may change the mode; others can't help it.
	if (found !== undefined && (found.mode & OTHERS) !== 0 && found.uid === process.getuid?.())
		chmodSync(path, FILE_MODE);
}
