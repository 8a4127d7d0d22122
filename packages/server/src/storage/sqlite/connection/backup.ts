import { randomUUID } from "node:crypto";
import { existsSync, lchownSync, linkSync, lstatSync, renameSync, rmSync, statSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StorageError } from "../../port.ts";
import { beginQuarantine } from "../../verbs/settings.ts";
import { APPLICATION_ID, migrate } from "../migrations/index.ts";
import { runVerb } from "../verbs.ts";
import { Connection } from "./connection.ts";
import { backupError, isDamage, isUnreadable, storageError } from "./errors.ts";
import { ExclusiveLock, freeName, makeFile, makeFolder, targetOf } from "./files.ts";
import { openToRead } from "./reading.ts";

/**
 * Copies a database into one complete file with everything committed before the copy began, even while a service uses
 * it. The service continues to read and write; only its write-ahead log grows until the copy is done. The target
 * appears on disk only when it's complete. Rejects with a StorageError `unusable` if the target already exists, its
 * folder doesn't, or it ends with a slash, or if the source isn't a Posthorn database.
 */
export async function backupSqlite(sourcePath: string, targetPath: string): Promise<void> {
	const target = resolve(targetPath);
	if (existsSync(target)) throw alreadyThere(target);
	// `resolve` removes the slash, so the copy would be a file where a folder was meant.
	if (/[/\\]$/.test(targetPath))
		throw new StorageError(
			"unusable",
			`There is no folder ${target}: create it, and name a file in it for the backup.`,
		);
	if (!existsSync(sourcePath))
		throw new StorageError(
			"unusable",
			`There is no database at ${sourcePath}: set POSTHORN_DATABASE_URL to the one to back up.`,
		);
	const folder = dirname(target);
	if (!existsSync(folder))
		throw new StorageError("unusable", `There is no folder ${folder}: create it, or choose another for the backup.`);
	const unfinished = `${target}.${randomUUID()}.unfinished`;
	try {
		copyDatabase("database", sourcePath, unfinished, target);
		await flush(unfinished);
		if (existsSync(target)) throw alreadyThere(target);
		await rename(unfinished, target);
	} finally {
		removeDraft(unfinished);
	}
	await flushNames(folder);
}

/** Deletes an unfinished database, and SQLite's files next to it. */
function removeDraft(draft: string): void {
	for (const end of ["", "-journal", "-wal", "-shm"]) {
		const file = `${draft}${end}`;
		// In a folder that can't be read, nothing was created, and trying to delete it would hide why.
		if (existsSync(file)) rmSync(file);
	}
}

const alreadyThere = (target: string) =>
	new StorageError("unusable", `${target} already exists: choose a new file for the backup.`);

/** How errors name the file that is copied, and what to do. */
const SOURCES = {
	database: { asError: storageError, advice: "set POSTHORN_DATABASE_URL to the one to back up" },
	backup: { asError: backupError, advice: "name a backup of one" },
} as const;

/**
 * Copies a database into one new file. Throws a StorageError.
 *
 * @param shown the file that users know, for errors
 */
function copyDatabase(kind: keyof typeof SOURCES, sourcePath: string, targetPath: string, shown: string): void {
	const { asError, advice } = SOURCES[kind];
	let isRead = false;
	try {
		const source = openToRead(sourcePath);
		try {
			if (source.prepare("PRAGMA application_id").get()?.application_id !== APPLICATION_ID)
				throw new StorageError("unusable", `${sourcePath} is not a Posthorn database: ${advice}.`);
			isRead = true;
			makeFile(targetPath);
			source.prepare("VACUUM INTO ?").run(targetPath);
		} finally {
			source.close();
		}
	} catch (error) {
		throw isRead && !isDamage(error) ? storageError(error, shown) : asError(error, sourcePath);
	}
}

/** Waits until a file is on disk. */
async function flush(path: string, flags = "r+"): Promise<void> {
	const handle = await open(path, flags);
	try {
		await handle.sync();
	} finally {
		await handle.close();
	}
}

/** Waits until the names in a folder are on disk. Windows doesn't flush folders, and keeps names anyway. */
async function flushNames(folder: string): Promise<void> {
	if (process.platform !== "win32") await flush(folder, "r");
}

export interface RestoredFile {
	/** The previous database's new path; null if there was none. */
	readonly replaced: string | null;
	/** The latest time that the backup contains, milliseconds since the Unix epoch; null if no node ever ran on it. */
	readonly backupAt: number | null;
}

/**
 * Replaces the database with a copy of a backup, in quarantine: a service that starts on it sends nothing until an
 * operator releases it. The previous database is kept under another name. A restore that is interrupted
 * leaves one of the two in place, or none.
 *
 * Rejects with a StorageError: `in_use` if a service uses the database, `unusable` if the backup isn't a sound database
 * of Posthorn, or belongs to a newer version.
 */
export async function restoreSqlite(backupPath: string, databasePath: string): Promise<RestoredFile> {
	const backup = resolve(backupPath);
	const path = targetOf(resolve(databasePath));
	if (!existsSync(backup)) throw new StorageError("unusable", `There is no backup at ${backup}.`);
	if (existsSync(path) && statSync(backup).ino === statSync(path).ino && statSync(backup).dev === statSync(path).dev)
		throw new StorageError("unusable", `${backup} is the database itself: name a backup of it.`);
	const lock = lockIn(path);
	const draft = `${path}.${randomUUID()}.unfinished`;
	try {
		copyDatabase("backup", backup, draft, path);
		const backupAt = prepare(draft, backup, path);
		await flush(draft);
		giveToOwner(path, draft, lock.path);
		const replaced = setAside(path, freeName(path));
		renameSync(draft, path);
		await flushNames(dirname(path));
		return { replaced, backupAt };
	} finally {
		removeDraft(draft);
		lock.release();
	}
}

/** Creates the folder if there is none, and keeps services off the database. Throws a StorageError. */
function lockIn(path: string): ExclusiveLock {
	try {
		makeFolder(path);
		return new ExclusiveLock(path);
	} catch (error) {
		throw storageError(error, path);
	}
}

/** Checks the copy, migrates it and marks it. @returns the latest time that it contains */
function prepare(draft: string, backup: string, path: string): number | null {
	try {
		const db = new DatabaseSync(draft);
		try {
			migrate(db, backup);
			const [check] = db.prepare("PRAGMA quick_check(1)").all();
			if (check?.quick_check !== "ok")
				throw new StorageError("unusable", `${backup} is damaged (${String(check?.quick_check)}): use another backup.`);
			const now = Date.now();
			return runVerb(new Connection(db), beginQuarantine({ now }), { now });
		} finally {
			db.close();
		}
	} catch (error) {
		throw isUnreadable(error) ? backupError(error, backup) : storageError(error, path);
	}
}

/** Run as root, the service's user must be able to open it. */
function giveToOwner(path: string, ...files: readonly string[]): void {
	if (process.getuid?.() !== 0) return;
	const { uid, gid } = statSync(existsSync(path) ? path : dirname(path));
	// The folder's owner may have replaced one by a link to someone else's file, which must stay theirs.
	for (const each of files) lchownSync(each, uid, gid);
}

/**
 * Renames a database and its log (or journal), which may be left of one that was moved away. The database goes first:
 * SQLite would play a log that was left behind into whatever has the database's name, but deletes one without a
 * database. Returns the database's new path; null if there was none.
 */
function setAside(path: string, replaced: string): string | null {
	const isThere = existsSync(path);
	// Reading the database of a stopped service, as backups do, leaves an empty one. A journal is another program's.
	for (const end of ["-wal", "-journal"])
		if (lstatSync(`${path}${end}`, { throwIfNoEntry: false })?.size) linkSync(`${path}${end}`, `${replaced}${end}`);
	if (isThere) renameSync(path, replaced);
	for (const end of ["-wal", "-shm", "-journal"]) rmSync(`${path}${end}`, { force: true });
	return isThere ? replaced : null;
}
