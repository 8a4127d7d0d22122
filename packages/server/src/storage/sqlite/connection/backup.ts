import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StorageError } from "../../port.ts";
import { isDamage, storageError } from "./errors.ts";
import { makeFile } from "./files.ts";
import { APPLICATION_ID } from "./migrate.ts";

/** Other connections hold a lock only briefly. */
const BUSY_TIMEOUT_MS = 5000;

/**
 * Copies a database into one complete file with everything committed before the copy began, even while a service uses
 * it. The service continues to read and write; only its write-ahead log grows until the copy is done. The target
 * appears on disk only when it's complete. Rejects with a StorageError `unusable` if the target already exists or its
 * folder doesn't, or the source isn't a Posthorn database.
 */
export async function backupSqlite(sourcePath: string, targetPath: string): Promise<void> {
	const target = resolve(targetPath);
	if (existsSync(target)) throw alreadyThere(target);
	if (!existsSync(sourcePath))
		throw new StorageError("unusable", `There is no database at ${sourcePath}: set the one to back up.`);
	const folder = dirname(target);
	if (!existsSync(folder))
		throw new StorageError("unusable", `There is no folder ${folder}: create it, or choose another for the backup.`);
	const unfinished = `${target}.${randomUUID()}.unfinished`;
	try {
		copyDatabase(sourcePath, unfinished);
		await flush(unfinished);
		if (existsSync(target)) throw alreadyThere(target);
		await rename(unfinished, target);
	} finally {
		await rm(unfinished, { force: true });
	}
	// Windows doesn't flush directories, and keeps names anyway.
	if (process.platform !== "win32") await flush(folder, "r");
}

const alreadyThere = (target: string) =>
	new StorageError("unusable", `${target} already exists: choose a new file for the backup.`);

/** Copies a database into one new file. Throws a StorageError. */
export function copyDatabase(sourcePath: string, targetPath: string): void {
	let from = sourcePath;
	try {
		const source = new DatabaseSync(sourcePath, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
		try {
			if (source.prepare("PRAGMA application_id").get()?.application_id !== APPLICATION_ID)
				throw new StorageError("unusable", `${sourcePath} is not a Posthorn database: set the one to back up.`);
			from = targetPath;
			makeFile(targetPath);
			source.prepare("VACUUM INTO ?").run(targetPath);
		} finally {
			source.close();
		}
	} catch (error) {
		throw storageError(error, isDamage(error) ? sourcePath : from);
	}
}

/** Waits until a file, or a folder's names, are on disk. */
export async function flush(path: string, flags = "r+"): Promise<void> {
	const handle = await open(path, flags);
	try {
		await handle.sync();
	} finally {
		await handle.close();
	}
}
