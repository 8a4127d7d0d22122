/** The database of a world: the model in memory, or a real engine, of which each world has one for itself. */

import { mkdtempSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Storage } from "../../packages/server/src/storage/port.ts";
import { openSqliteStorage } from "../../packages/server/src/storage/sqlite/index.ts";
import { MemoryDatabase, openMemoryStorage } from "../../packages/server/test/storage/memory/index.ts";
import type { NodeClock, Timeline } from "../time.ts";

export const STORAGES = ["memory", "sqlite", "postgres"] as const;
export type StorageKind = (typeof STORAGES)[number];

export interface Database {
	/** Whether nodes notify each other of changes. */
	readonly hasHints: boolean;
	open(clock: NodeClock): Promise<Storage>;
	/** A node is gone. */
	close(storage: Storage): Promise<void>;
	/** Has time stand still for as long as a call of a real database takes. */
	hold<T>(call: Promise<T>): Promise<T>;
	/** Holds a project's rows, as another session would, until they are let go. Null where it cannot. */
	lock(projectId: string): Promise<(() => Promise<void>) | null>;
	/** Saves the current state, to continue from it later. Null if not supported. */
	snapshot(): Promise<(() => Promise<void>) | null>;
	dispose(): Promise<void>;
}

export interface DatabaseOptions {
	/** A running server, for worlds on PostgreSQL. */
	readonly postgresUrl?: string | undefined;
	readonly timeline: Timeline;
	readonly startMs: number;
	readonly leaseTermMs: number;
	readonly manyNodes: boolean;
}

export async function createDatabase(kind: StorageKind, options: DatabaseOptions): Promise<Database> {
	if (kind === "memory") return new ModelDatabase(options);
	if (kind === "sqlite") return new SqliteDatabase(options);
	// Its binaries take a while to load: only where it is used.
	const { PostgresDatabase } = await import("./postgres.ts");
	return PostgresDatabase.create(options);
}

class ModelDatabase implements Database {
	readonly hasHints = true;
	readonly #options: DatabaseOptions;
	readonly #database: MemoryDatabase;

	constructor(options: DatabaseOptions) {
		this.#options = options;
		const { timeline, startMs } = options;
		const clock = {
			now: () => Math.floor(startMs + timeline.now()),
			setTimeout: (fn: () => void, ms: number) => timeline.after(ms, fn),
		};
		this.#database = new MemoryDatabase({ clock });
	}

	async open(clock: NodeClock): Promise<Storage> {
		const { leaseTermMs, manyNodes } = this.#options;
		return openMemoryStorage({ database: this.#database, clock, leaseTermMs, manyNodes });
	}

	async close(storage: Storage): Promise<void> {
		void storage.close();
	}

	hold<T>(call: Promise<T>): Promise<T> {
		return call;
	}

	async lock(projectId: string): Promise<() => Promise<void>> {
		this.#database.lock(projectId);
		return async () => this.#database.unlock(projectId);
	}

	async snapshot(): Promise<() => Promise<void>> {
		const snapshot = this.#database.snapshot();
		return async () => this.#database.restore(snapshot);
	}

	async dispose(): Promise<void> {}
}

class SqliteDatabase implements Database {
	readonly hasHints = false;
	readonly #options: DatabaseOptions;
	readonly #folder = mkdtempSync(join(tmpdir(), "posthorn-simulation-"));
	readonly #opened = new Set<Storage>();
	readonly #locks = new Set<() => void>();
	/** Where the process ends in the middle of a world. SQLite's threads still run then, and may add a file meanwhile. */
	readonly #remove = (): void => rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });

	constructor(options: DatabaseOptions) {
		this.#options = options;
		process.on("exit", this.#remove);
	}

	async open(clock: NodeClock): Promise<Storage> {
		const { leaseTermMs } = this.#options;
		const storage = await openSqliteStorage({ path: join(this.#folder, "posthorn.db"), clock, leaseTermMs });
		this.#opened.add(storage);
		return storage;
	}

	async close(storage: Storage): Promise<void> {
		this.#opened.delete(storage);
		await this.hold(storage.close());
	}

	hold<T>(call: Promise<T>): Promise<T> {
		return this.#options.timeline.hold(call.catch((error: unknown) => this.#failed(error)));
	}

	#failed(error: unknown): never {
		this.#unlock();
		// The folder is another one in each run.
		if (error instanceof Error) error.message = error.message.replaceAll(this.#folder, "");
		throw error;
	}

	#unlock(): void {
		for (const unlock of [...this.#locks]) unlock();
	}

	/** Takes the database's only write lock. The first call that times out on it releases it, because each costs real seconds. */
	async lock(): Promise<(() => Promise<void>) | null> {
		if (this.#locks.size > 0) return null;
		const other = new DatabaseSync(join(this.#folder, "posthorn.db"));
		try {
			other.exec("BEGIN IMMEDIATE");
		} catch (error) {
			other.close();
			// Nothing has been opened yet, or it writes on its own account.
			if (/locked|no such table/.test((error as Error).message)) return null;
			throw error;
		}
		const unlock = (): void => {
			if (this.#locks.delete(unlock)) other.close();
		};
		this.#locks.add(unlock);
		return async () => unlock();
	}

	/** A database that one node owns loses nothing that was acknowledged. */
	async snapshot(): Promise<null> {
		return null;
	}

	async dispose(): Promise<void> {
		this.#unlock();
		for (const storage of this.#opened) await storage.close();
		await rm(this.#folder, { recursive: true, force: true });
		process.off("exit", this.#remove);
	}
}
