import { createHash, randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresServer } from "../../../../testkit/src/postgres/postgres.ts";
import { until } from "../../../../testkit/src/until.ts";
import { systemClock } from "../../base/clock.ts";
import { examinePostgres } from "./connection/examine.ts";
import { migratePostgres, openPostgresStorage } from "./index.ts";
import { MIGRATION_LOCK, MIGRATIONS } from "./migrations/index.ts";
import { functions } from "./migrations/publish.ts";

/** How many migrations the previous release has. */
const OF_THE_PREVIOUS_RELEASE = 15;

let server: PostgresServer;

beforeAll(async () => {
	// Roles log in without passwords.
	server = await PostgresServer.start({ own: true });
});
afterAll(() => server.stop());

/** A database as the version with this many migrations left it. */
async function databaseOf(version: number): Promise<string> {
	const url = await server.createDatabase();
	const client = new Client({ connectionString: url });
	await client.connect();
	try {
		await createSchema(client, version);
	} finally {
		await client.end();
	}
	return url;
}

async function createSchema(client: Client, version: number): Promise<void> {
	await client.query("CREATE SCHEMA posthorn");
	await createTables(client, version);
}

async function createTables(client: Client, version: number): Promise<void> {
	await client.query(
		"CREATE TABLE posthorn.schema_versions (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())",
	);
	for (const step of MIGRATIONS.slice(0, version)) await client.query(step);
	await client.query("INSERT INTO posthorn.schema_versions SELECT generate_series(1, $1::integer)", [version]);
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
		const locks =
			"SELECT FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
		await until("the migration to wait for a lock", async () => (await server.execute(locks, url)).length === 1);
		await node.query("COMMIT");
		await migrated;
	} finally {
		await node.end();
	}
	const counted = "SELECT n::integer FROM posthorn.attempt_stats WHERE webhook_no = 1 AND grain = 60000";
	expect(await server.execute(counted, url)).toEqual([{ n: 3 }]);
});

// It still saw the database as it was before, and failed because the schema existed.
test.each(["repeatable read", "serializable"])(
	"a node waits for another one's migration where transactions are %s by default",
	async (level) => {
		const url = await server.createDatabase();
		const name = new URL(url).pathname.slice(1);
		await server.execute(`ALTER DATABASE ${name} SET default_transaction_isolation = '${level}'`);
		const other = new Client({ connectionString: url });
		await other.connect();
		try {
			await other.query("BEGIN");
			await other.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
			const migrated = migratePostgres(url);
			const waiting = "SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()";
			await until("the migration to wait", async () => (await server.execute(waiting, url)).length === 1);
			await createSchema(other, MIGRATIONS.length);
			await Promise.all([other.query("COMMIT"), migrated]);
		} finally {
			await other.end();
		}
		await migratePostgres(url);
	},
);

// PostgreSQL ended it, and again at the next start.
test("a migration takes as long as it needs where transactions have a limit", async ({ skip }) => {
	const url = await server.createDatabase();
	const limit = "SELECT FROM pg_settings WHERE name = 'transaction_timeout'";
	if ((await server.execute(limit)).length === 0) skip("PostgreSQL 17 and later have it");
	const other = new Client({ connectionString: url });
	await other.connect();
	try {
		await other.query("BEGIN");
		await other.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
		await server.execute(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET transaction_timeout = '1s'`);
		const migrated = migratePostgres(url);
		const beyond = `
			SELECT FROM pg_stat_activity
			WHERE wait_event = 'advisory' AND datname = current_database() AND clock_timestamp() > xact_start + interval '1s'`;
		const waited = until("it to wait for longer", async () => (await server.execute(beyond, url)).length === 1);
		await Promise.race([waited, migrated]);
		await Promise.all([other.query("COMMIT"), migrated]);
	} finally {
		await other.end();
	}
});

// While it waited for a dump to end, everyone else waited for the tables that it had locked, or was about to.
test("a migration that can't lock a table yet lets others use them, and continues after an interruption", async () => {
	const url = await databaseOf(OF_THE_PREVIOUS_RELEASE);
	const [dump, node] = [new Client({ connectionString: url }), new Client({ connectionString: url })];
	await Promise.all([dump.connect(), node.connect()]);
	try {
		await dump.query("BEGIN; SELECT FROM posthorn.attempts");
		const migrated = migratePostgres(url).then(
			() => "migrated",
			({ code }) => code,
		);
		const waiting = `
			SELECT pid FROM pg_stat_activity
			WHERE application_name = 'posthorn migration' AND wait_event_type = 'Lock' AND datname = current_database()`;
		const pid = await until("the migration to wait for the dump", async () => {
			const [found] = await server.execute(waiting, url);
			return (found?.pid as number | undefined) ?? null;
		});
		await node.query("SET statement_timeout = '30s'");
		await node.query("SELECT FROM posthorn.webhooks");
		await node.query("SELECT FROM posthorn.attempts");
		await server.execute(`SELECT pg_terminate_backend(${pid})`, url);
		expect(await migrated).toBe("lost");
		const again = migratePostgres(url);
		await until("it to wait again", async () => (await server.execute(waiting, url)).length === 1);
		await dump.query("COMMIT");
		await again;
		const [row] = await server.execute("SELECT count(*)::integer AS count FROM posthorn.schema_versions", url);
		expect(row).toEqual({ count: MIGRATIONS.length });
	} finally {
		await Promise.all([dump.end(), node.end()]);
	}
});

// The migration rewrote these tables, and an older snapshot sees no row of a rewritten table: a store's events were lost,
// and a sweep deleted events that lanes still needed.
test.each(["repeatable read", "serializable"])(
	"a %s transaction that began before the migration sees all rows, and publishes",
	async (level) => {
		const url = await databaseOf(OF_THE_PREVIOUS_RELEASE);
		await server.execute(
			`WITH made AS (
				INSERT INTO posthorn.projects (id, name, developer, created_at) VALUES ('proj_x', '', true, 0) RETURNING no
			), log AS (
				INSERT INTO posthorn.logs (project_no, last_seq) SELECT no, 1000 FROM made
			), lane AS (
				INSERT INTO posthorn.lanes (project_no, webhook_no, position) SELECT no, 1, 1000 FROM made
			)
			INSERT INTO posthorn.leases (project_no) SELECT no FROM made`,
			url,
		);
		const tables = "SELECT relname, relfilenode FROM pg_class WHERE relname IN ('logs', 'lanes') ORDER BY relname";
		const store = new Client({ connectionString: url });
		await store.connect();
		try {
			const before = await server.execute(tables, url);
			await store.query(`BEGIN ISOLATION LEVEL ${level}`);
			await store.query("SELECT 1");
			await migratePostgres(url);
			expect(await server.execute(tables, url)).toEqual(before);
			const { rows } = await store.query("SELECT position::integer FROM posthorn.lanes");
			expect(rows).toEqual([{ position: 1000 }]);
			await store.query("SELECT posthorn.publish('proj_x', 'customer.created', '{\"email\":\"a@example.com\"}')");
			await store.query("COMMIT");
		} finally {
			await store.end();
		}
		expect(await server.execute("SELECT seq::integer FROM posthorn.events", url)).toEqual([{ seq: 1001 }]);
	},
);

/** Tables and functions of others than this role. */
const notOf = (role: string) => `
	SELECT relname AS name FROM pg_class
	WHERE relnamespace = 'posthorn'::regnamespace AND pg_get_userbyid(relowner) <> '${role}'
	UNION ALL
	SELECT proname FROM pg_proc
	WHERE pronamespace = 'posthorn'::regnamespace AND pg_get_userbyid(proowner) <> '${role}'`;

// The nodes' user could use none of the new tables.
test("what an administrator's migration creates belongs to the owner of the rest", async () => {
	const role = `owner_${randomUUID().replaceAll("-", "")}`;
	await server.execute(`CREATE ROLE ${role}`);
	for (const version of [0, OF_THE_PREVIOUS_RELEASE]) {
		const url = await server.createDatabase();
		const owner = new Client({ connectionString: url });
		await owner.connect();
		try {
			await owner.query(`CREATE SCHEMA posthorn AUTHORIZATION ${role}; SET ROLE ${role}`);
			if (version > 0) await createTables(owner, version);
		} finally {
			await owner.end();
		}
		await migratePostgres(url);
		expect(await server.execute(notOf(role), url)).toEqual([]);
		await server.dropDatabase(url);
	}
	await server.execute(`DROP ROLE ${role}`);
});

// Acting as the owner failed: it may change neither what an administrator has left in the schema, nor days that a node
// has created as a member of the owner's role.
test("an administrator migrates a database whose tables have several owners", async () => {
	const [owner, member] = ["owner", "member"].map((name) => `${name}_${randomUUID().replaceAll("-", "")}`);
	await server.execute(`CREATE ROLE ${owner}; CREATE ROLE ${member} LOGIN IN ROLE ${owner}`);
	const database = await databaseOf(OF_THE_PREVIOUS_RELEASE);
	const day = `attempts_${new Date().toISOString().slice(0, 10).replaceAll("-", "")}`;
	await server.execute(
		`ALTER SCHEMA posthorn OWNER TO ${owner};
		ALTER TABLE posthorn.schema_versions OWNER TO ${owner};
		ALTER TABLE posthorn.attempts OWNER TO ${owner};
		CREATE TABLE posthorn.${day} (LIKE posthorn.attempts INCLUDING ALL);
		ALTER TABLE posthorn.attempts ATTACH PARTITION posthorn.${day} FOR VALUES FROM ('0') TO ('01');
		ALTER TABLE posthorn.${day} OWNER TO ${member}`,
		database,
	);
	await migratePostgres(database);
	const others = await server.execute(notOf(owner!), database);
	expect(new Set(others.map(({ name }) => (name as string).slice(0, day.length)))).toEqual(new Set([day]));
	const url = Object.assign(new URL(database), { username: member }).href;
	await (await openPostgresStorage({ url, clock: systemClock, leaseTermMs: 1_000 })).close();
	await server.dropDatabase(database);
	await server.execute(`DROP ROLE ${member}; DROP ROLE ${owner}`);
});

// The next member's sweep could neither read nor drop the days that the last one had created.
test("the days that a member of the owner's role creates belong to the owner, so the next member can drop them", async () => {
	const [owner, first, next] = ["owner", "first", "next"].map((name) => `${name}_${randomUUID().replaceAll("-", "")}`);
	const database = await server.createDatabase();
	await server.execute(
		`CREATE ROLE ${owner}; CREATE ROLE ${first} LOGIN IN ROLE ${owner}; CREATE ROLE ${next} LOGIN IN ROLE ${owner};
		CREATE SCHEMA posthorn AUTHORIZATION ${owner}`,
		database,
	);
	const openAs = (role: string | undefined) => {
		const url = Object.assign(new URL(database), { username: role }).href;
		return openPostgresStorage({ url, clock: systemClock, leaseTermMs: 1_000 });
	};
	await (await openAs(first)).close();
	expect(await server.execute(notOf(owner!), database)).toEqual([]);
	// The doctor reported partitions of others, which the sweep leaves alone.
	await server.execute(
		"CREATE TABLE public.older PARTITION OF posthorn.attempts FOR VALUES FROM ('0') TO ('00000001')",
		database,
	);
	const examined = await examinePostgres(Object.assign(new URL(database), { username: next }).href);
	expect(examined).toMatchObject({ mayKeepLog: true });
	await server.execute("DROP TABLE public.older", database);
	const storage = await openAs(next);
	const cutoff = systemClock.now() + 10 * 86_400_000;
	for (let from: number | null = 0; from !== null; )
		from = (await storage.sweepAttempts({ cutoff, limit: 10, from })).next;
	await storage.close();
	const days = "SELECT FROM pg_inherits WHERE inhparent = 'posthorn.attempts'::regclass";
	expect(await server.execute(days, database)).toEqual([]);
	await server.dropDatabase(database);
	for (const role of [first, next, owner]) await server.execute(`DROP ROLE ${role}`);
});

// It acted as the owner, whose rights the nodes don't inherit, or failed because it may not.
test.for(["WITH INHERIT FALSE", "WITH SET FALSE"])(
	"a member of the schema's owner %s creates its own tables and works with them",
	async (option, { skip }) => {
		const hasOptions = "SELECT FROM pg_settings WHERE name = 'server_version_num' AND setting::integer >= 160000";
		if ((await server.execute(hasOptions)).length === 0) skip("PostgreSQL 16 and later have it");
		const [owner, member] = ["owner", "member"].map((name) => `${name}_${randomUUID().replaceAll("-", "")}`);
		const database = await server.createDatabase();
		await server.execute(
			`CREATE ROLE ${owner}; CREATE ROLE ${member} LOGIN; GRANT ${owner} TO ${member} ${option};
			CREATE SCHEMA posthorn AUTHORIZATION ${owner}; GRANT ALL ON SCHEMA posthorn TO ${member}`,
			database,
		);
		const url = Object.assign(new URL(database), { username: member }).href;
		await (await openPostgresStorage({ url, clock: systemClock, leaseTermMs: 1_000 })).close();
		await server.dropDatabase(database);
		await server.execute(`DROP ROLE ${member}; DROP ROLE ${owner}`);
	},
);

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
	const appliedBy = MIGRATIONS.findLastIndex((text) => text.includes(functions)) + 1;
	expect({ digest, appliedBy }).toEqual({ digest: "db5c671a55e762d2", appliedBy: 26 });
});
