import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PostgresServer } from "../../../../testkit/src/postgres/postgres.ts";
import { until } from "../../../../testkit/src/until.ts";
import type { World } from "../../../test/storage/conformance/world.ts";
import { giveDatabaseBack, takeDatabase } from "../../../test/storage/postgres/databases.ts";
import { versionsFrom } from "../../../test/storage/postgres/versions.ts";
import { openNode, worldOf } from "../../../test/storage/postgres/world.ts";
import { stretchOf } from "./connection/hot-rows.ts";
import type { PostgresStorage } from "./index.ts";

/** How many events one project publishes and delivers while the snapshot is open. */
const VERSIONS = 5_000;
const ROUNDS = 10;

/** Changes a row that often. Each change finds the newest version by its physical location, so this takes a moment. */
const change = (table: string, column: string, key: string) => `
	DO $$
	DECLARE place tid;
	BEGIN
		SELECT ctid INTO STRICT place FROM posthorn.${table} WHERE ${key};
		FOR n IN 1..${VERSIONS} LOOP
			UPDATE posthorn.${table} SET ${column} = ${column} + 1, stretch = ${stretchOf(`${column} + 1`)} WHERE ctid = place RETURNING ctid INTO STRICT place;
		END LOOP;
	END $$`;

/** Spreads what searches need over more pages than the primary keys. */
const BLOAT = `
	ALTER INDEX posthorn.logs_by_stretch SET (fillfactor = 10);
	ALTER INDEX posthorn.lanes_by_stretch SET (fillfactor = 10);
	REINDEX INDEX posthorn.logs_by_stretch;
	REINDEX INDEX posthorn.lanes_by_stretch`;
const RESET = `
	ALTER INDEX posthorn.logs_by_stretch RESET (fillfactor);
	ALTER INDEX posthorn.lanes_by_stretch RESET (fillfactor)`;

/**
 * How many pages of these tables all sessions so far have read. A session reports its own when it ends. PostgreSQL 14
 * counts them some time later, so this test needs a newer version.
 */
const PAGES = `
	SELECT sum(heap_blks_hit + heap_blks_read)::integer AS pages FROM pg_statio_user_tables
	WHERE schemaname = 'posthorn' AND relname IN ('logs', 'lanes')`;
/** Sessions other than this one and the dump. They have yet to report what they read. */
const OTHERS = `
	SELECT FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
		AND pid <> pg_backend_pid() AND application_name <> 'dump'`;

// Each event of a busy project once took more of the database's time than the one before, for as long as a dump ran.
describe.each(await versionsFrom(15))("$name while a transaction keeps an old snapshot", ({ options }) => {
	let server: PostgresServer;
	let url: string;
	let dump: Client;

	beforeAll(async () => {
		// It reads pages, too, about once a minute.
		server = await PostgresServer.start({ ...options, settings: { autovacuum: "off" } });
	});
	afterAll(() => server.stop());
	beforeEach(async () => {
		url = await takeDatabase(server);
		dump = new Client({ connectionString: url, application_name: "dump" });
		await dump.connect();
	});
	afterEach(async () => {
		await dump.end();
		await giveDatabaseBack(server, url);
	});

	async function connected<T>(work: (client: Client) => Promise<T>): Promise<T> {
		const client = new Client({ connectionString: url });
		await client.connect();
		try {
			return await work(client);
		} finally {
			await client.end();
		}
	}

	const pages = () =>
		connected(async (client) => {
			await until("other sessions to end", async () => (await client.query(OTHERS)).rowCount === 0);
			return (await client.query<{ pages: number }>(PAGES)).rows[0]!.pages;
		});

	test("publishing and settling pass few versions of a project's rows", async () => {
		let storage!: PostgresStorage;
		const open = () => worldOf(async (clock) => (storage = await openNode(url, clock)));
		let world: World = await open();
		const project = await world.project();
		const webhook = await world.webhook(project, ["a"]);
		const { generation } = await world.lease(project);
		await world.webhook(await world.project(), ["a"]);
		await storage.close();

		/** The pages that some rounds take. */
		const rounds = async (): Promise<number> => {
			const before = await pages();
			world = await open();
			for (let n = 0; n < ROUNDS; n++) {
				const seq = (await world.publish(project, "a"))[0]!.seq;
				await storage.readLogEnd({ projectId: project });
				const settled = await storage.settle({
					settlements: [
						{
							projectId: project,
							generation,
							attempts: [world.attempt(webhook, { seq, type: "a" })],
							schedule: [],
							unschedule: [],
							lanes: [{ webhookId: webhook, position: seq, open: [] }],
						},
					],
				});
				expect(settled).toEqual(["settled"]);
			}
			await storage.close();
			await connected(async (client) => {
				for (let n = 0; n < ROUNDS; n++)
					await client.query("SELECT posthorn.publish($1, 'customer.created', '{\"email\":\"a@example.com\"}')", [
						project,
					]);
			});
			return (await pages()) - before;
		};
		const fresh = await rounds();
		await dump.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
		await dump.query("SELECT count(*) FROM posthorn.events");
		await connected(async (client) => {
			await client.query(change("logs", "last_seq", "project_no = 1"));
			await client.query(change("lanes", "position", "project_no = 1"));
		});
		const aged = await rounds();
		expect(fresh).toBeGreaterThan(0);
		// One statement that passes all versions reads more than that.
		expect(aged).toBeLessThan(2 * fresh);
		// The planner once preferred the primary key when its index was smaller.
		await connected((client) => client.query(BLOAT));
		for (const table of ["logs", "lanes"]) await connected((client) => client.query(`VACUUM posthorn.${table}`));
		const bloated = await rounds();
		await connected((client) => client.query(RESET));
		expect(bloated).toBeLessThan(2 * aged);
	});
});
