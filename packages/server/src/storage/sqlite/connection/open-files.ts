/**
 * SQLite keeps its files open, and never checks their names again. If the database's path leads to another file, or
 * to none, the service would write to a file that the next start doesn't find, and the write-ahead log, which SQLite
 * finds by its name, would be applied to the file that has the database's name at the next start. A symbolic link that is
 * pointed elsewhere is like a changed setting, which the next start reads: the file that is open keeps its name, log and
 * lock.
 */
import { type BigIntStats, existsSync, renameSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { StorageError } from "../../port.ts";
import { freeName, targetOf } from "./files.ts";

/** How often the writer compares its files with what their paths lead to, milliseconds. */
const CHECK_MS = 1_000;
/** Checks in a row that have to agree: a network file system may show an earlier state for a moment. */
const CHECKS = 2;
/** How long the previous file's readers, such as a backup, may keep its log from being emptied, milliseconds. */
const READERS_MS = 1_000;

type State = "there" | "replaced" | "removed";

/** A file that is open, by its path without links. */
class OpenFile {
	readonly path: string;
	readonly #opened: BigIntStats | undefined;

	/** To be called when SQLite has opened it: some file systems only give a file its final inode then. */
	constructor(path: string) {
		this.path = path;
		this.#opened = this.#found();
	}

	state(): State {
		const found = this.#found();
		if (this.#opened === undefined) return "there";
		if (found === undefined) return "removed";
		return found.ino === this.#opened.ino && found.dev === this.#opened.dev ? "there" : "replaced";
	}

	/** What the path leads to. A volume that fails or hangs says nothing about it; commits report that. */
	#found(): BigIntStats | undefined {
		try {
			return statSync(this.path, { bigint: true });
		} catch (error) {
			const { code } = error as NodeJS.ErrnoException;
			return code === "ENOENT" || code === "ENOTDIR" ? undefined : this.#opened;
		}
	}
}

/** The files of the writer. */
export class OpenFiles {
	readonly #db: DatabaseSync;
	readonly #database: OpenFile;
	readonly #log: OpenFile;
	readonly #lock: OpenFile;

	/** @param db the connection that writes, with its log and lock open */
	constructor(db: DatabaseSync, databasePath: string) {
		this.#db = db;
		const path = targetOf(databasePath);
		this.#database = new OpenFile(path);
		this.#log = new OpenFile(`${path}-wal`);
		this.#lock = new OpenFile(`${path}.lock`);
	}

	/**
	 * Checks the files until a path no longer leads to its file, then calls {@link leave}.
	 *
	 * @param onLost called once with a StorageError `lost`; nothing may be committed from then on
	 * @returns stops it
	 */
	watch(onLost: (error: StorageError) => void): () => void {
		let before: string | null = null;
		let checks = 0;
		const timer = setInterval(() => {
			const lost = this.#lost();
			checks = lost === before ? checks + 1 : 1;
			before = lost;
			if (lost === null || checks < CHECKS) return;
			// Without a name, the log ends with this process, and the commits in it.
			if (this.#isLogAlone && !this.#saveLog()) return;
			clearInterval(timer);
			onLost(new StorageError("lost", `${lost}${this.#left()}`));
		}, CHECK_MS);
		return () => clearInterval(timer);
	}

	/** To be called before the connection closes. Returns a StorageError `lost` if something is left to do. */
	close(): StorageError | null {
		const lost = this.#lost();
		const left = this.#left();
		return left === "" ? null : new StorageError("lost", `${lost ?? ""}${left}`);
	}

	/**
	 * If the path no longer leads to this database, SQLite wouldn't delete the log, and the next start would apply it to
	 * the file that has the database's name then.
	 *
	 * @returns where the log is now, if the previous database isn't complete without it
	 */
	leave(): string | null {
		if (this.#database.state() === "there") return null;
		if (this.#emptyLog() || this.#log.state() !== "there") return null;
		const free = freeName(this.#database.path);
		renameSync(this.#log.path, `${free}-wal`);
		// Its index, which a reader may have open: the next database would share it.
		const index = `${this.#database.path}-shm`;
		if (existsSync(index)) renameSync(index, `${free}-shm`);
		return `${free}-wal`;
	}

	/** Whether the log was moved, replaced or deleted, but not the database. */
	get #isLogAlone(): boolean {
		return this.#database.state() === "there" && this.#log.state() !== "there";
	}

	/** Returns whether the database has all of the log. Waits for no reader, because the service continues until then. */
	#saveLog(): boolean {
		try {
			const done = this.#db.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();
			return done?.busy === 0 && done.log === done.checkpointed;
		} catch {
			return false;
		}
	}

	/** Writes the log to the database that is open, whatever their names are. Returns whether it is complete then. */
	#emptyLog(): boolean {
		try {
			this.#db.exec(`PRAGMA busy_timeout = ${READERS_MS}`);
			return this.#db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy === 0;
		} catch {
			// Such as of a full disk.
			return false;
		}
	}

	/** Leaves the files. Returns what else there is to do. */
	#left(): string {
		try {
			const aside = this.leave();
			if (aside === null) return "";
			return ` The last commits of the previous file are in ${aside}: before you use that file, give this one its name with -wal at the end.`;
		} catch (error) {
			return ` ${this.#log.path} couldn't be put aside (${(error as Error).message}): move it away before the next start.`;
		}
	}

	/** What happened, and what to do; null if every path leads to its file. */
	#lost(): string | null {
		const { path } = this.#database;
		const state = this.#database.state();
		if (state === "replaced")
			return (
				`${path} was replaced while the service was using it. Everything accepted until now is in the previous file, ` +
				"not in the new one. The next start uses the new one; to keep the previous one instead, put it back first. " +
				"Stop the service before you replace its database."
			);
		if (state === "removed")
			return (
				`${path} was moved or deleted while the service was using it. Stop the service, and put the file back or restore ` +
				"a backup (posthorn restore). Without a database, the next start fails if the seal key is in a file, and begins " +
				"with an empty one if it's in POSTHORN_SEAL_KEY."
			);
		if (this.#log.state() !== "there")
			return (
				`${this.#log.path} was moved, deleted or replaced while the service was using it. Its commits were written to ` +
				`${path}. Restart the service, which creates the file again, and leave it there.`
			);
		if (this.#lock.state() === "there") return null;
		return (
			`${this.#lock.path} was moved, deleted or replaced while the service was using it, so a second service could have opened ` +
			"the database, too. Restart the service, which creates the file again, and leave it there."
		);
	}
}
