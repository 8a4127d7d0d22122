import { constants, existsSync } from "node:fs";
import { access, open, readlink, stat, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { codeOf } from "../base/folders.ts";
import { SEAL_CHECK } from "../base/seal.ts";
import type { Config } from "../config/index.ts";
import { backupError, isOverQuota, readSqliteSetting, targetOf } from "../storage/sqlite/index.ts";
import { examineSeal, examineStored, type Finding, fault, ok, warning } from "./local.ts";

const LITTLE_DISK_BYTES = 1_000_000_000;
/** Less than the service writes at startup. */
const NO_DISK_BYTES = 16_000_000;

const NAME = "Database";

/** The database file, or where it will be, and its seal key. */
export async function examineSqlite(path: string, config: Config): Promise<Finding[]> {
	const place = { path, target: followed(path) };
	const folder = await nearestFolder(place.target);
	const why = (await folderFault(place, folder)) ?? (await diskFault(place, folder)) ?? (await filesFault(place));
	if (why !== null) return [fault(NAME, why)];
	const exists = existsSync(path);
	let stored: Finding[];
	try {
		stored = examineStored(config, path, (setting) => (exists ? readSqliteSetting(path, setting) : null));
	} catch (error) {
		return [fault(NAME, codeOf(error)?.startsWith("E") ? unwritable(path, error) : (error as Error).message)];
	}
	const free = await freeBytes(folder);
	const amount = free < 1e9 ? megabytes(free) : `${(free / 1e9).toFixed(1)} GB`;
	const database =
		free < LITTLE_DISK_BYTES
			? warning(NAME, `Only ${amount} are free on the disk of ${path}: free some space.`)
			: ok(NAME, exists ? `${path}, ${amount} free.` : `${path} will be created at the first start; ${amount} free.`);
	return [database, ...(folder === dirname(place.target) ? await examineFolder(folder) : []), ...stored];
}

interface Place {
	/** The database's path in the configuration. */
	readonly path: string;
	/** The file that `path` leads to, through links. */
	readonly target: string;
}

/** Why the service can't use or create the database's folder; null if it can. */
async function folderFault({ path, target }: Place, folder: string): Promise<string | null> {
	const broken = await brokenLink(target);
	if (broken !== null)
		return `${broken} is a link to a folder that doesn't exist: mount its disk or create the folder, or choose another location for ${path} with POSTHORN_DATABASE_URL.`;
	try {
		if (!(await stat(folder)).isDirectory())
			return `${folder} is not a folder: choose another location for ${path} with POSTHORN_DATABASE_URL.`;
		await access(folder, constants.W_OK | constants.X_OK);
		return null;
	} catch (error) {
		const closed = await closedFolder(folder);
		if (closed !== null)
			return `${path} cannot be reached, because the service's user may not enter ${closed} (EACCES): allow that, or choose another location with POSTHORN_DATABASE_URL.`;
		return folder === dirname(target) ? unwritable(folder, error) : unmakeable(dirname(target), folder, error);
	}
}

/** Why the folder's disk can't take the database; null if it can. */
async function diskFault({ path }: Place, folder: string): Promise<string | null> {
	// Such as /proc and /sys, which store no files.
	if ((await statfs(folder)).blocks === 0)
		return `${folder} is on a file system that can't store files: choose another location for ${path}.`;
	const free = await freeBytes(folder);
	if (free < NO_DISK_BYTES)
		return `Only ${megabytes(free)} are free on the disk of ${path}, and the service needs ${NO_DISK_BYTES / 1e6} MB to start: free some space.`;
	const unwritten = await writeUnnamed(folder);
	if (unwritten === null) return null;
	return isOverQuota(unwritten)
		? `The quota on the disk of ${path} is used up (EDQUOT): raise it, or free some space.`
		: unwritable(folder, unwritten);
}

/** Why the service can't use the database's files; null if it can, or if they don't exist. */
async function filesFault({ path, target }: Place): Promise<string | null> {
	const there = await stat(path).catch(() => null);
	if (there && !there.isFile()) return `${path} is not a file: the database needs one.`;
	for (const file of [path, ...["-wal", "-shm", ".lock"].map((end) => `${target}${end}`)]) {
		const refused = await access(file, constants.R_OK | constants.W_OK).catch((error: unknown) => error);
		if (refused !== undefined && codeOf(refused) !== "ENOENT") return unwritable(file, refused);
	}
	return null;
}

async function freeBytes(folder: string): Promise<number> {
	const { bavail, bsize } = await statfs(folder);
	return bavail * bsize;
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/** Linux's O_TMPFILE, which Node doesn't name. */
const UNNAMED = 0o20000000 | constants.O_DIRECTORY | constants.O_RDWR;
const UNNAMED_BYTES = 1_000_000;
/** Others may mean that the file system has no unnamed files, or that the database's own files are still writable. */
const REFUSED: ReadonlySet<string | undefined> = new Set(["EROFS", "EIO"]);

/**
 * Writes a file without a name, which is gone once it is closed. Returns the error if the file system refuses it: after a
 * disk error it may do so although the mode, the mount's flags and its free space say otherwise, and so does a quota.
 */
async function writeUnnamed(folder: string): Promise<Error | null> {
	if (process.platform !== "linux") return null;
	try {
		await using file = await open(folder, UNNAMED, 0o600);
		await file.write(Buffer.alloc(UNNAMED_BYTES));
		return null;
	} catch (error) {
		return REFUSED.has(codeOf(error)) || isOverQuota(error) ? (error as Error) : null;
	}
}

/** A service under systemd may see a file system as read-only that isn't. */
const unwritable = (path: string, error: unknown): string =>
	codeOf(error) === "EROFS"
		? `${path} is on a read-only file system: remount it, allow the systemd unit to write there (ReadWritePaths=), or choose another location with POSTHORN_DATABASE_URL.`
		: `${path} cannot be written to (${codeOf(error)}): give it to the service's user.`;

/** Doesn't advise to give the parent to the service's user: it may be `/`. */
const unmakeable = (folder: string, parent: string, error: unknown): string =>
	codeOf(error) === "EACCES"
		? `There is no folder ${folder}, and the service may not create it in ${parent} (EACCES): create it for the service's user, or choose another location with POSTHORN_DATABASE_URL.`
		: unwritable(parent, error);

const OTHERS_WRITE = 0o002;

/** Whether others may write to the folder of the database and the seal key. The service creates its own folder private. */
async function examineFolder(folder: string): Promise<Finding[]> {
	// On Windows, the mode doesn't say who may write.
	if (process.platform === "win32" || ((await stat(folder)).mode & OTHERS_WRITE) === 0) return [];
	const text = `All users of this machine may write to ${folder}, and so replace the database or put files next to it: make it private with chmod 700, or move the database to a folder of its own.`;
	return [warning("Folder", text)];
}

/** Whether the service can open what a backup contains. Throws a StorageError if the file isn't a backup. */
export const examineBackup = (config: Config, file: string): Finding =>
	examineSeal(config, file, readSqliteSetting(file, SEAL_CHECK, backupError));

/** The file that a path leads to: it may be a link to another folder and disk, where SQLite also keeps its log. */
function followed(path: string): string {
	try {
		return targetOf(resolve(path));
	} catch {
		// What can't be read is reported for its folder.
		return resolve(path);
	}
}

/** A folder above the file that is a link to nothing, such as to a disk that isn't mounted. No folder can be created there. */
async function brokenLink(path: string): Promise<string | null> {
	for (let folder = dirname(path); dirname(folder) !== folder; folder = dirname(folder)) {
		const error: unknown = await stat(folder).catch((error: unknown) => error);
		if (codeOf(error) !== "ENOENT") return null;
		if (await readlink(folder).catch(() => null)) return folder;
	}
	return null;
}

/** The topmost folder above the path that this user may not enter. */
async function closedFolder(path: string): Promise<string | null> {
	let closed: string | null = null;
	for (let folder = dirname(path); dirname(folder) !== folder; folder = dirname(folder))
		if ((await access(folder, constants.X_OK).catch(codeOf)) === "EACCES") closed = folder;
	return closed;
}

/** The folder of the file, or its nearest existing parent. */
async function nearestFolder(path: string): Promise<string> {
	for (let folder = dirname(path); ; folder = dirname(folder)) {
		const isMissing = (error: unknown) => ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
		const there = await stat(folder).catch((error: unknown) => (isMissing(error) ? null : folder));
		if (there !== null || dirname(folder) === folder) return folder;
	}
}
