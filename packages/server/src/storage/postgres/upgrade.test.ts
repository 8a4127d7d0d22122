import { createHash } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { PostgresServer, START_TIMEOUT_MS } from "../../../../testkit/src/postgres/postgres.ts";
import { migratePostgres, openPostgresStorage } from "./index.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { functions } from "./migrations/publish.ts";

let server: PostgresServer;

beforeAll(async () => {
	server = await PostgresServer.start();
}, START_TIMEOUT_MS);
afterAll(() => server.stop());

/** A database as the version with this many migrations left it. */
async function databaseOf(version: number): Promise<string> {
	const url = await server.createDatabase();
	const client = new Client({ connectionString: url });
	await client.connect();
	try {
		await client.query("CREATE SCHEMA posthorn");
		await client.query(
			"CREATE TABLE posthorn.schema_versions (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())",
		);
		for (const step of MIGRATIONS.slice(0, version)) await client.query(step);
		await client.query("INSERT INTO posthorn.schema_versions SELECT generate_series(1, $1::integer)", [version]);
	} finally {
		await client.end();
	}
	return url;
}

test("attempts not counted yet are counted once, in addition to earlier counts", async () => {
	const url = await databaseOf(6);
	// Two webhooks of project 7; minutes 59 and 60 fall into hours 0 and 1.
	await server.execute(
		`INSERT INTO posthorn.attempt_counts (project_no, webhook_no, minute, n, status, class)
			VALUES (7, 1, 59, 3, 1, 5), (7, 1, 59, 2, 1, 5), (7, 2, 60, 4, 3, 9)`,
		url,
	);
	await server.execute(
		`INSERT INTO posthorn.attempt_stats (project_no, webhook_no, at, n, grain, status, class)
			VALUES (7, 1, 59, 10, 60000, 1, 5), (7, 0, 59, 10, 60000, 1, 5)`,
		url,
	);
	await migratePostgres(url);
	const rows = await server.execute(
		`SELECT concat_ws(' ', webhook_no, grain / 60000, at, status, class, n) AS row FROM posthorn.attempt_stats
			WHERE project_no = 7 ORDER BY webhook_no, grain, at`,
		url,
	);
	expect(rows.map(({ row }) => row)).toEqual([
		"0 1 59 1 5 15",
		"0 1 60 3 9 4",
		"0 60 0 1 5 5",
		"0 60 1 3 9 4",
		"1 1 59 1 5 15",
		"1 60 0 1 5 5",
		"2 1 60 3 9 4",
		"2 60 1 3 9 4",
	]);
	expect(await server.execute("SELECT FROM posthorn.attempt_counts", url)).toEqual([]);
});

// It was counted before the settle had ended, and its row dropped with the table after that.
test("outcomes that a node settles as the migration begins are counted", async () => {
	const url = await databaseOf(6);
	const node = new Client({ connectionString: url });
	await node.connect();
	try {
		await node.query("BEGIN");
		await node.query(
			"INSERT INTO posthorn.attempt_counts (project_no, webhook_no, minute, n, status, class) VALUES (7, 1, 59, 3, 1, 5)",
		);
		const migrated = migratePostgres(url);
		await vi.waitFor(
			async () =>
				expect(
					await server.execute(
						"SELECT FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
						url,
					),
				).toHaveLength(1),
			{ timeout: START_TIMEOUT_MS },
		);
		await node.query("COMMIT");
		await migrated;
	} finally {
		await node.end();
	}
	const counted = "SELECT n::integer FROM posthorn.attempt_stats WHERE webhook_no = 1 AND grain = 60000";
	expect(await server.execute(counted, url)).toEqual([{ n: 3 }]);
});

test("lanes with settled events beyond their cursor keep the events in between open", async () => {
	const url = await databaseOf(8);
	// Type 1 is subscribed to after event 2, type 3 after event 5; type 2 isn't.
	await server.execute(
		`INSERT INTO posthorn.lanes (project_no, webhook_no, cursor, ahead)
			VALUES (7, 1, 1, '{6,9,10}'), (7, 2, 4, '{}'), (8, 3, 0, '{5}')`,
		url,
	);
	await server.execute(
		`INSERT INTO posthorn.subscriptions (project_no, webhook_no, type, from_seq)
			VALUES (7, 1, 1, 2), (7, 1, 3, 5), (7, 2, 1, 0)`,
		url,
	);
	await server.execute(
		`INSERT INTO posthorn.events (project_no, seq, id, type, type_seq, created_at, published_at, body)
			SELECT 7, seq, 'evt_' || seq, type, 1, 0, 0, ''
			FROM unnest('{1,1,1,3,2,1,3,2,3,1,1}'::integer[]) WITH ORDINALITY AS event (type, seq)`,
		url,
	);
	await migratePostgres(url);
	const lanes = await server.execute(
		"SELECT position::integer, open::text FROM posthorn.lanes ORDER BY project_no, webhook_no",
		url,
	);
	expect(lanes).toEqual([
		{ position: 10, open: "{3,7}" },
		{ position: 4, open: "{}" },
		{ position: 5, open: "{}" },
	]);
});

// Nodes of the previous version keep creating keys while others are replaced.
test("API keys of earlier versions have all scopes and don't expire", async () => {
	const url = await databaseOf(14);
	const createKey = (id: string) =>
		server.execute(
			`INSERT INTO posthorn.api_keys (id, project_no, name, prefix, hash, created_at)
				SELECT '${id}', no, '', '', '${id}', 0 FROM posthorn.projects`,
			url,
		);
	await server.execute(
		"INSERT INTO posthorn.projects (id, name, developer, created_at) VALUES ('proj_x', '', true, 0)",
		url,
	);
	await createKey("key_before");
	await migratePostgres(url);
	await createKey("key_after");
	const keys = await server.execute(
		"SELECT id, scopes, expires_at, creator_kind FROM posthorn.api_keys ORDER BY id",
		url,
	);
	const all = { scopes: "publish read manage", expires_at: null, creator_kind: null };
	expect(keys).toEqual([
		{ id: "key_after", ...all },
		{ id: "key_before", ...all },
	]);
});

// They counted until they were dismissed, which test events can't be.
test("failed test events that the previous version counted no longer count as dead letters", async () => {
	const url = await databaseOf(15);
	await server.execute("CREATE TABLE posthorn.attempts_all PARTITION OF posthorn.attempts DEFAULT", url);
	await server.execute(
		`INSERT INTO posthorn.lanes (project_no, webhook_no, position, dead_letters)
			VALUES (7, 1, 9, 4), (7, 2, 9, 1), (7, 3, 9, 0), (8, 4, 9, 2)`,
		url,
	);
	// For webhook 1, test -1 failed twice and was replayed in between, -2 was delivered at last, and -3 waits for a retry.
	await server.execute(
		`INSERT INTO posthorn.attempts (project_no, webhook_no, seq, replay, attempt, status, id, type, started_at,
				response_ms, response_truncated, url, response_body)
			SELECT project_no, webhook_no, seq, replay, attempt, status, row_number() OVER (), 1, 0, 0, false, '', ''
			FROM (VALUES
				(7, 1, -1, 0, 1, 2), (7, 1, -1, 0, 2, 3), (7, 1, -1, 1, 1, 3), (7, 1, -2, 0, 1, 3), (7, 1, -2, 1, 1, 1),
				(7, 1, -3, 0, 1, 3), (7, 1, -4, 0, 1, 3), (7, 1, 1, 0, 1, 3), (7, 1, 2, 0, 1, 3), (7, 2, 1, 0, 1, 3),
				(7, 3, -5, 0, 1, 3), (8, 4, -1, 0, 1, 3), (8, 4, -2, 0, 1, 2)
			) AS logged (project_no, webhook_no, seq, replay, attempt, status)`,
		url,
	);
	await server.execute(
		`INSERT INTO posthorn.retries (project_no, webhook_no, seq, queue, replay, attempt, due_at)
			VALUES (7, 1, -3, 0, 1, 1, 0), (8, 4, -2, 0, 0, 2, 0)`,
		url,
	);
	await migratePostgres(url);
	const lanes = "SELECT webhook_no::integer AS webhook, dead_letters::integer AS dead FROM posthorn.lanes ORDER BY 1";
	expect(await server.execute(lanes, url)).toEqual([
		{ webhook: 1, dead: 2 },
		{ webhook: 2, dead: 1 },
		{ webhook: 3, dead: 0 },
		{ webhook: 4, dead: 1 },
	]);
});

// The lock on the epochs kept nodes of the previous version from connecting and from taking leases.
test("a migration that waits for a lane doesn't block the nodes that run meanwhile", async () => {
	const url = await databaseOf(21);
	await server.execute("CREATE TABLE posthorn.attempts_all PARTITION OF posthorn.attempts DEFAULT", url);
	await server.execute(
		"INSERT INTO posthorn.lanes (project_no, webhook_no, position, dead_letters) VALUES (7, 1, 9, 1)",
		url,
	);
	await server.execute(
		`INSERT INTO posthorn.attempts (project_no, webhook_no, seq, replay, attempt, status, id, type, started_at,
				response_ms, response_truncated, url, response_body) VALUES (7, 1, -1, 0, 1, 3, '1', 1, 0, 0, false, '', '')`,
		url,
	);
	const settling = new Client({ connectionString: url });
	const joining = new Client({ connectionString: url, lock_timeout: 1_000 });
	await settling.connect();
	await joining.connect();
	let migrated: Promise<unknown> = Promise.resolve();
	try {
		await settling.query("BEGIN; UPDATE posthorn.lanes SET position = 10");
		migrated = migratePostgres(url);
		const waits =
			"SELECT pid FROM pg_stat_activity WHERE application_name = 'posthorn migration' AND wait_event_type = 'Lock'";
		await expect.poll(() => server.execute(waits, url), { timeout: 60_000 }).toHaveLength(1);
		expect((await joining.query("SELECT count(*)::integer AS epochs FROM posthorn.epochs")).rows).toEqual([
			{ epochs: 0 },
		]);
	} finally {
		await settling.query("COMMIT");
		await settling.end();
		await joining.end();
	}
	await migrated;
	expect(
		await server.execute("SELECT position::integer, dead_letters::integer AS dead FROM posthorn.lanes", url),
	).toEqual([{ position: 10, dead: 0 }]);
});

// A command of the next version migrated the database under the nodes of this one.
test("a database of an earlier version is refused if it isn't to be migrated, and a new one gets its schema", async () => {
	const url = await databaseOf(15);
	const open = (at: string) =>
		openPostgresStorage({ url: at, clock: { now: Date.now }, leaseTermMs: 1_000, migrates: false });
	await expect(open(url)).rejects.toMatchObject({
		code: "unusable",
		message: expect.stringMatching(/earlier version of Posthorn \(schema 15; .*"posthorn migrate"/),
	});
	const version = "SELECT max(version)::integer AS version FROM posthorn.schema_versions";
	expect(await server.execute(version, url)).toEqual([{ version: 15 }]);
	await (await open(await server.createDatabase())).close();
	await migratePostgres(url);
	await (await open(url)).close();
});

// The functions are generated from the catalogue, but a database keeps those of its last migration. After a change, add
// a migration that applies them again, and update both values.
test("the functions for publishing change only with a migration that replaces them", () => {
	const digest = createHash("sha256").update(functions).digest("hex").slice(0, 16);
	const appliedBy = MIGRATIONS.lastIndexOf(functions) + 1;
	expect({ digest, appliedBy }).toEqual({ digest: "fc1d0461a84c1310", appliedBy: 8 });
});
