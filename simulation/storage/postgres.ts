import { PostgresServer } from "@posthorn/testkit/postgres";
import type { Storage } from "../../packages/server/src/storage/port.ts";
import { openPostgresStorage } from "../../packages/server/src/storage/postgres/index.ts";
import type { Database, DatabaseOptions } from "./database.ts";

/** One for all worlds of a process; it ends with it. */
let server: Promise<PostgresServer> | null = null;

/** A real database that nodes share. Time stands still while it works. */
export class PostgresDatabase implements Database {
	readonly hasHints = false;
	readonly #options: DatabaseOptions;
	readonly #server: PostgresServer;
	readonly #url: string;
	readonly #opened = new Set<Storage>();

	private constructor(options: DatabaseOptions, server: PostgresServer, url: string) {
		this.#options = options;
		this.#server = server;
		this.#url = url;
	}

	static async create(options: DatabaseOptions): Promise<PostgresDatabase> {
		server ??= PostgresServer.start();
		const started = await server;
		return new PostgresDatabase(options, started, await started.createDatabase());
	}

	/** Leases go by true time: the server's own clock knows nothing of the world's. */
	async open(): Promise<Storage> {
		const { timeline, startMs, leaseTermMs } = this.#options;
		const clock = { now: () => Math.floor(startMs + timeline.now()) };
		const storage = await openPostgresStorage({ url: this.#url, clock, leaseTermMs, leasesByClock: true });
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
		await this.#server.dropDatabase(this.#url);
	}
}
