import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { afterAll, beforeAll, describe } from "vitest";
import { giveDatabaseBack, takeDatabase } from "../../test/storage/postgres/databases.ts";
import { openPostgresStorage } from "../storage/postgres/index.ts";
import { openSqliteStorage } from "../storage/sqlite/index.ts";
import { type TestDatabase, TestStore, type TestStoreOptions } from "./store.fixture.ts";

const LEASE_TERM_MS = 15_000;

type OpenStore = (options?: TestStoreOptions) => Promise<TestStore>;

/** Defines the same tests for each storage engine. Each test opens the rules on its own database. */
export function onEachEngine(define: (openStore: OpenStore) => void): void {
	describe("on SQLite", () => define(async (options) => TestStore.open(await sqliteDatabase(), options)));

	describe("on PostgreSQL", () => {
		let server: PostgresServer;
		beforeAll(async () => {
			server = await PostgresServer.start();
		});
		afterAll(() => server.stop());
		define(async (options) => TestStore.open(await postgresDatabase(server), options));
	});
}

async function sqliteDatabase(): Promise<TestDatabase> {
	const folder = await mkdtemp(join(tmpdir(), "posthorn-store-"));
	const path = join(folder, "test.db");
	const execute = async (sql: string) => {
		const db = new DatabaseSync(path, { timeout: 5_000 });
		db.exec(sql);
		db.close();
	};
	return {
		open: (clock) => openSqliteStorage({ path, clock, leaseTermMs: LEASE_TERM_MS }),
		refuse: (text) =>
			execute(`
				CREATE TRIGGER refused BEFORE INSERT ON events WHEN instr(CAST(NEW.body AS TEXT), '${text}') > 0
				BEGIN SELECT RAISE(ABORT, 'refused'); END`),
		refuseNothing: () => execute("DROP TRIGGER refused"),
		remove: () => rm(folder, { recursive: true }),
	};
}

async function postgresDatabase(server: PostgresServer): Promise<TestDatabase> {
	const url = await takeDatabase(server);
	const execute = async (sql: string) => void (await server.execute(sql, url));
	return {
		open: (clock) => openPostgresStorage({ url, clock, leaseTermMs: LEASE_TERM_MS, leasesByClock: true }),
		refuse: (text) =>
			execute(`
				CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
				CREATE TRIGGER refused BEFORE INSERT ON posthorn.events FOR EACH ROW
				WHEN (position('${text}' IN convert_from(NEW.body, 'UTF8')) > 0) EXECUTE FUNCTION refused()`),
		refuseNothing: () => execute("DROP FUNCTION refused CASCADE"),
		remove: () => giveDatabaseBack(server, url),
	};
}
