import { PostgresServer } from "@posthorn/testkit/postgres";
import { Client } from "pg";
import type { Storage } from "../../packages/server/src/storage/port.ts";
import { openPostgresStorage } from "../../packages/server/src/storage/postgres/index.ts";
import type { Database, DatabaseOptions } from "./database.ts";
import { Polls } from "./polls.ts";

/** The rows that every settle, append and lease of a project needs. */
const LOCK = `
	WITH project AS MATERIALIZED (SELECT no FROM posthorn.projects WHERE id = $1),
		log AS MATERIALIZED (SELECT FROM posthorn.logs WHERE project_no = (SELECT no FROM project) FOR UPDATE),
		lease AS MATERIALIZED (SELECT FROM posthorn.leases WHERE project_no = (SELECT no FROM project) FOR UPDATE),
		lane AS MATERIALIZED (SELECT FROM posthorn.lanes WHERE project_no = (SELECT no FROM project) FOR UPDATE)
	SELECT (SELECT count(*) FROM log) + (SELECT count(*) FROM lease) + (SELECT count(*) FROM lane)`;

/** As in a dump that was restored: it is by this table's number that nodes notice that the database went back. */
const RESTORED = `
	ALTER TABLE posthorn.epochs RENAME TO epochs_before;
	CREATE TABLE posthorn.epochs (LIKE posthorn.epochs_before INCLUDING ALL);
	INSERT INTO posthorn.epochs SELECT * FROM posthorn.epochs_before;
	DROP TABLE posthorn.epochs_before`;

/** How long a session may take to end, milliseconds. */
const LEAVE_MS = 5_000;

/** A real database that nodes share. Time stands still while it works. */
export class PostgresDatabase implements Database {
	readonly hasHints: boolean;
	readonly #options: DatabaseOptions;
	readonly #server: PostgresServer;
	readonly #url: string;
	readonly #name: string;
	readonly #polls: Polls;
	readonly #opened = new Set<Storage>();
	/** Names of copies of earlier states. */
	readonly #copies = new Set<string>();
	#copied = 0;

	private constructor(options: DatabaseOptions, server: PostgresServer, url: string) {
		this.#options = options;
		// They come in real time, so a world that has them does not repeat itself exactly.
		this.hasHints = options.manyNodes;
		this.#server = server;
		this.#url = url;
		this.#name = new URL(url).pathname.slice(1);
		this.#polls = new Polls(() => this.#now(), options.leaseTermMs);
	}

	static async create(options: DatabaseOptions): Promise<PostgresDatabase> {
		// Where a world starts one itself, PostgreSQL's user may have no access to the folder.
		if (options.postgresUrl === undefined) throw new Error("A world on PostgreSQL needs the URL of a running server.");
		const server = PostgresServer.at(options.postgresUrl);
		return new PostgresDatabase(options, server, await server.createDatabase());
	}

	/** Leases use true time, because the server's own clock is independent of the world's. */
	async open(): Promise<Storage> {
		const { leaseTermMs } = this.#options;
		const clock = { now: () => this.#now() };
		const storage = this.#polls.opened(
			await openPostgresStorage({ url: this.#url, clock, leaseTermMs, leasesByClock: true }),
		);
		this.#opened.add(storage);
		return storage;
	}

	async close(storage: Storage): Promise<void> {
		this.#opened.delete(storage);
		await this.hold(storage.close());
		this.#polls.closed();
	}

	#now(): number {
		return Math.floor(this.#options.startMs + this.#options.timeline.now());
	}

	hold<T>(call: Promise<T>): Promise<T> {
		return this.#options.timeline.hold(call);
	}

	/** Calls that need the rows are refused once they have waited for as long as they may, in real time. */
	lock(projectId: string): Promise<() => Promise<void>> {
		return this.hold(this.#lock(projectId));
	}

	async #lock(projectId: string): Promise<() => Promise<void>> {
		const session = new Client({ connectionString: this.#url });
		// A failover ends it.
		session.on("error", () => undefined);
		await session.connect();
		await session.query("BEGIN");
		await session.query(LOCK, [projectId]);
		this.#polls.changed();
		return () => this.hold(session.end()).finally(() => this.#polls.changed());
	}

	/** Cuts every connection, because a database can only be copied while it is unused. */
	snapshot(): Promise<() => Promise<void>> {
		return this.hold(this.#snapshot());
	}

	async #snapshot(): Promise<() => Promise<void>> {
		const copy = `${this.#name}_${++this.#copied}`;
		await this.#empty();
		await this.#server.execute(`CREATE DATABASE ${copy} TEMPLATE ${this.#name}`);
		this.#copies.add(copy);
		await this.#server.execute(`ALTER DATABASE ${this.#name} ALLOW_CONNECTIONS true`);
		return () => this.hold(this.#goOnFrom(copy));
	}

	async #goOnFrom(copy: string): Promise<void> {
		const url = new URL(this.#url);
		url.pathname = copy;
		await this.#server.execute(RESTORED, url.href);
		await this.#empty();
		await this.#server.execute(`DROP DATABASE ${this.#name}`);
		await this.#server.execute(`ALTER DATABASE ${copy} RENAME TO ${this.#name}`);
		this.#copies.delete(copy);
		this.#polls.changed();
	}

	/** Prevents connections until they are allowed again. */
	async #empty(): Promise<void> {
		await this.#server.execute(`ALTER DATABASE ${this.#name} ALLOW_CONNECTIONS false`);
		await this.#server.execute(
			`SELECT pg_terminate_backend(pid, ${LEAVE_MS}) FROM pg_stat_activity WHERE datname = '${this.#name}'`,
		);
	}

	async dispose(): Promise<void> {
		for (const storage of this.#opened) await storage.close();
		for (const copy of this.#copies) await this.#server.execute(`DROP DATABASE ${copy} WITH (FORCE)`);
		await this.#server.dropDatabase(this.#url);
	}
}
