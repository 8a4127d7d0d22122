/** The database of a world: the model in memory, or a real engine, of which each world has one for itself. */

import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryDatabase, openMemoryStorage } from "../../packages/server/src/storage/memory/index.ts";
import type { Storage } from "../../packages/server/src/storage/port.ts";
import { openSqliteStorage } from "../../packages/server/src/storage/sqlite/index.ts";
import type { NodeClock, Timeline } from "../time.ts";

export type StorageKind = "memory" | "sqlite" | "postgres";

export interface Database {
	/** Whether nodes may be told of news at once: in real time that would differ from run to run. */
	readonly hasHints: boolean;
	open(clock: NodeClock): Promise<Storage>;
	/** A node is gone. */
	close(storage: Storage): Promise<void>;
	/** Has time stand still for as long as a call of a real database takes. */
	hold<T>(call: Promise<T>): Promise<T>;
	/** Holds a project's rows, as another session would, until they are let go. Null where it cannot. */
	lock(projectId: string): (() => void) | null;
	/** Remembers the current state. Null where it cannot. */
	snapshot(): (() => void) | null;
	dispose(): Promise<void>;
}

export interface DatabaseOptions {
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

	lock(projectId: string): () => void {
		this.#database.lock(projectId);
		return () => this.#database.unlock(projectId);
	}

	snapshot(): () => void {
		const snapshot = this.#database.snapshot();
		return () => this.#database.restore(snapshot);
	}

	async dispose(): Promise<void> {}
}

class SqliteDatabase implements Database {
	readonly hasHints = false;
	readonly #options: DatabaseOptions;
	readonly #folder = mkdtempSync(join(tmpdir(), "posthorn-simulation-"));
	readonly #opened = new Set<Storage>();

	constructor(options: DatabaseOptions) {
		this.#options = options;
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
		return this.#options.timeline.hold(call);
	}

	lock(): null {
		return null;
	}

	snapshot(): null {
		return null;
	}

	async dispose(): Promise<void> {
		for (const storage of this.#opened) await storage.close();
		await rm(this.#folder, { recursive: true, force: true });
	}
}
