import { randomUUID } from "node:crypto";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { constants } from "node:os";
import { resolve } from "node:path";
import { StorageError, type StorageErrorCode } from "../../port.ts";

/** SQLite's primary result codes that matter here (https://www.sqlite.org/rescode.html). */
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

interface SqliteError extends Error {
	readonly errcode: number;
}

function isSqliteError(error: unknown): error is SqliteError {
	return error instanceof Error && "errcode" in error && typeof error.errcode === "number";
}

/** The primary result code, or null if the error isn't SQLite's. */
function sqliteCode(error: unknown): number | null {
	return isSqliteError(error) ? error.errcode & 0xff : null;
}

/** SQLITE_IOERR_SHMSIZE, an extended code: the file in which connections index the write-ahead log can't grow. */
const INDEX_FULL = 4874;

/** SQLITE_IOERR_WRITE, an extended code: also what SQLite makes of a used-up quota. */
const WRITE_FAILED = 778;

/**
 * Longest path that always works, bytes. SQLite's limit on Unix is 504, and files next to a database or a backup have up
 * to 48 more.
 */
const MAX_PATH_BYTES = 456;

/** SQLITE_CONSTRAINT_UNIQUE, an extended code. */
const UNIQUE_VIOLATION = 2067;
export const isUniqueViolation = (error: unknown): boolean =>
	isSqliteError(error) && error.errcode === UNIQUE_VIOLATION;

export const isBusy = (error: unknown): boolean => sqliteCode(error) === BUSY;

export const isUnopened = (error: unknown): boolean => sqliteCode(error) === CANTOPEN;

/** Whether the file that was read is damaged. */
export const isDamage = (error: unknown): boolean => sqliteCode(error) === CORRUPT;

/** Whether it is, or is no database at all. */
export const isUnreadable = (error: unknown): boolean => isDamage(error) || sqliteCode(error) === NOTADB;

/** A file system error, such as a directory that can't be created. */
const isFileError = (error: unknown): error is NodeJS.ErrnoException => error instanceof Error && "syscall" in error;

/** Node has no name for the error of a used-up quota, only its number. */
export const isOverQuota = (error: unknown): boolean =>
	error instanceof Error && "errno" in error && error.errno === -constants.errno.EDQUOT;

const isOutOfSpace = (error: NodeJS.ErrnoException): boolean => error.code === "ENOSPC" || isOverQuota(error);

const PROBE_BYTES = Buffer.alloc(4_096);

/**
 * Whether the file system has no room for another file, such as a write-ahead log: XFS without a free block, any
 * without a free inode, or a used-up quota. SQLite only says that it can't open it, or write to it.
 */
function hasNoRoomForFile(path: string): boolean {
	const probe = `${path}.${randomUUID()}.unfinished`;
	try {
		const file = openSync(probe, "wx", 0o600);
		try {
			writeSync(file, PROBE_BYTES);
		} finally {
			// Only now do some network file systems report what is wrong with the write.
			try {
				closeSync(file);
			} finally {
				rmSync(probe);
			}
		}
		return false;
	} catch (error) {
		return isFileError(error) && isOutOfSpace(error);
	}
}

const isTooLong = (path: string): boolean =>
	process.platform !== "win32" && Buffer.byteLength(resolve(path)) > MAX_PATH_BYTES;

/** Translates a failure of SQLite or the disk for the service; any other error is returned unchanged. */
export function storageError(error: unknown, path: string): unknown {
	const failure = (code: StorageErrorCode, text: string) => new StorageError(code, text, { cause: error });
	const full = () =>
		failure("full", `The disk of ${path} is full: free some space. The service then continues automatically.`);
	if (isFileError(error)) {
		if (isOutOfSpace(error)) return full();
		if (error.code === "EROFS")
			return failure("unusable", `${path} is on a read-only file system: remount it, or choose another path.`);
		// Node adds the call and its path, which may be that of a draft.
		const reason = error.message.split(", ", 1)[0]!;
		return failure("unusable", `${path} cannot be opened for writing (${reason}): choose another path.`);
	}
	if (!isSqliteError(error)) return error;
	if (error.errcode === INDEX_FULL) return full();
	if (error.errcode === WRITE_FAILED && hasNoRoomForFile(path)) return full();
	switch (sqliteCode(error)) {
		case FULL:
			return full();
		case IOERR:
			return failure(
				"lost",
				`Reading or writing ${path} failed (${error.message}): check the disk, its quota and the system's log. If it continues, restart.`,
			);
		case CORRUPT:
			return failure("unusable", `${path} is damaged (${error.message}): restore it from a backup.`);
		case NOTADB:
			return failure("unusable", `${path} is not a SQLite database: name another file, or restore it from a backup.`);
		case CANTOPEN:
		case READONLY:
			if (hasNoRoomForFile(path)) return full();
			if (isTooLong(path))
				return failure(
					"unusable",
					`The path ${resolve(path)} is too long for SQLite: choose one of ${MAX_PATH_BYTES} bytes or fewer.`,
				);
			return failure(
				"unusable",
				`${path} cannot be opened for writing: check that it and its directory belong to this user.`,
			);
		case BUSY:
			return failure("in_use", `${path} is locked by another program: close it, then try again.`);
		default:
			return error;
	}
}

/** The same for the backup that is restored, which can't be advised to be restored from a backup. */
export function backupError(error: unknown, path: string): unknown {
	const failure = (text: string) => new StorageError("unusable", text, { cause: error });
	if (isDamage(error)) return failure(`${path} is damaged (${(error as Error).message}): use another backup.`);
	if (isUnreadable(error))
		return failure(
			`${path} is not a SQLite database: name a file that posthorn backup wrote. If it is compressed or encrypted, unpack it first.`,
		);
	return storageError(error, path);
}

/** An error in the form in which it is passed between threads. */
export interface ErrorNote {
	readonly code: StorageErrorCode | null;
	readonly message: string;
	readonly stack: string | undefined;
}

export function toNote(error: unknown): ErrorNote {
	const known = error instanceof Error ? error : new Error(String(error));
	return { code: known instanceof StorageError ? known.code : null, message: known.message, stack: known.stack };
}

export function fromNote(note: ErrorNote): Error {
	const error = note.code === null ? new Error(note.message) : new StorageError(note.code, note.message);
	if (note.stack !== undefined) error.stack = note.stack;
	return error;
}
