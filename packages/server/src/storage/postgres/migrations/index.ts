import type { Client } from "pg";
import { sleep, systemClock } from "../../../base/clock.ts";
import { StorageError } from "../../port.ts";
import { isLockTimeout } from "../connection/errors.ts";
import type { Hosts } from "../connection/servers.ts";
import { accounts, facts, initial, stats } from "./initial.ts";
import { functions, markedHints, publish } from "./publish.ts";

/**
 * Nodes that start together each print a valid setup link, so there may now be several. Creating the operator's account
 * takes a separate lock instead. The new index finds audit entries by age, to delete them.
 */
const linksAndAudit = `
DROP INDEX posthorn.links_for_setup;
CREATE INDEX audit_by_age ON posthorn.audit (at);
`;

/**
 * A settle now leaves its counts in one row, with an element per attempt. It used to leave a row per webhook and
 * response-time bucket, which were nearly as many as the attempts. Arrays are stored uncompressed, because the row is
 * short-lived. The old table's pending counts are added here, once no node uses it any longer.
 */
const countsOfASettle = `
LOCK TABLE posthorn.attempt_counts IN ACCESS EXCLUSIVE MODE;
INSERT INTO posthorn.attempt_stats AS s (project_no, webhook_no, grain, at, status, class, n)
SELECT project_no, scope.webhook_no, grain.ms, minute * 60000 / grain.ms, status, class, sum(n)
FROM posthorn.attempt_counts counts
	CROSS JOIN LATERAL (VALUES (counts.webhook_no), (0)) AS scope (webhook_no)
	CROSS JOIN (VALUES (60000), (3600000)) AS grain (ms)
GROUP BY 1, 2, 3, 4, 5, 6
ON CONFLICT (project_no, webhook_no, grain, at, status, class) DO UPDATE SET n = s.n + excluded.n;
DROP TABLE posthorn.attempt_counts;
CREATE TABLE posthorn.attempt_counts (
	project_no bigint[] NOT NULL,
	webhook_no bigint[] NOT NULL,
	minute bigint[] NOT NULL,
	status smallint[] NOT NULL,
	class smallint[] NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
ALTER TABLE posthorn.attempt_counts
	ALTER project_no SET STORAGE EXTERNAL, ALTER webhook_no SET STORAGE EXTERNAL, ALTER minute SET STORAGE EXTERNAL,
	ALTER status SET STORAGE EXTERNAL, ALTER class SET STORAGE EXTERNAL;
`;

/**
 * A lane now stores its position and its open events. It used to store a cursor and the events settled beyond it, which
 * grew with every event delivered while one was in flight. The open events are those between the two that are
 * subscribed to and not settled.
 */
const openEvents = `
LOCK TABLE posthorn.lanes IN ACCESS EXCLUSIVE MODE;
ALTER TABLE posthorn.lanes RENAME cursor TO position;
ALTER TABLE posthorn.lanes ADD open bigint[] NOT NULL DEFAULT '{}';
UPDATE posthorn.lanes l SET
	position = (SELECT max(seq) FROM unnest(l.ahead || l.position) AS seq),
	open = ARRAY(
		SELECT e.seq
		FROM posthorn.subscriptions s
			JOIN posthorn.events e ON e.project_no = s.project_no AND e.type = s.type AND e.seq > s.from_seq
		WHERE s.project_no = l.project_no AND s.webhook_no = l.webhook_no
			AND e.seq > l.position AND e.seq < (SELECT max(seq) FROM unnest(l.ahead) AS seq)
			AND NOT e.seq = ANY (l.ahead)
		ORDER BY e.seq
	)
WHERE l.ahead <> '{}';
ALTER TABLE posthorn.lanes DROP ahead;
`;

/**
 * Marks deleted webhooks whose pending deliveries are still to be closed: `closing`. The index finds a project's
 * directly.
 */
const closingWebhooks = `
ALTER TABLE posthorn.webhooks ADD COLUMN closing boolean NOT NULL DEFAULT false;
UPDATE posthorn.webhooks w SET closing = true
WHERE deleted_at IS NOT NULL AND EXISTS (
	SELECT FROM posthorn.retries r WHERE r.project_no = w.project_no AND r.webhook_no = w.no
);
CREATE INDEX webhooks_closing ON posthorn.webhooks (project_no, deleted_at) WHERE closing;
`;

/**
 * Records of servers that replaced each other (see epochs.ts), and durable commits.
 *
 * - `epochs` has a row for each stretch of the database's history, the current one last. `id` distinguishes two with
 *   the same number: the older one may have been lost together with everything written in it. `system` and `timeline`
 *   are those of the server. Before `open_at`, a lease only goes to the node that held it before.
 * - `log_forks` records where each log ended when an epoch began. `lost` is the last event beyond that which some node
 *   knows to be acknowledged; null if none is known.
 * - `publish` commits durably regardless of the store's session: with the session's setting, or `on` if that is weaker.
 */
const epochs = `
CREATE TABLE posthorn.epochs (
	no bigint PRIMARY KEY,
	id text COLLATE "C" NOT NULL,
	system text NOT NULL,
	timeline bigint NOT NULL,
	started_at bigint NOT NULL,
	open_at bigint NOT NULL
);

CREATE TABLE posthorn.log_forks (
	project_no bigint NOT NULL,
	epoch bigint NOT NULL,
	kept bigint NOT NULL,
	lost bigint,
	found_at bigint,
	PRIMARY KEY (project_no, epoch)
);
CREATE INDEX log_forks_by_epoch ON posthorn.log_forks (epoch);
CREATE INDEX log_forks_lost ON posthorn.log_forks (epoch, project_no) WHERE lost IS NOT NULL;

CREATE FUNCTION posthorn.commit_durably() RETURNS trigger LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
		PERFORM set_config('synchronous_commit', 'on', true);
	END IF;
	RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION posthorn.commit_durably FROM PUBLIC;

CREATE TRIGGER commit_durably BEFORE INSERT ON posthorn.publishing
	FOR EACH STATEMENT EXECUTE FUNCTION posthorn.commit_durably();
ALTER TABLE posthorn.publishing ENABLE ALWAYS TRIGGER commit_durably;
`;

/** Attempts that were in flight when their project's lease was released, until they are settled or their time has passed. */
const handedOver = `
CREATE TABLE posthorn.handed_over (
	project_no bigint NOT NULL,
	webhook_no bigint NOT NULL,
	seq bigint NOT NULL,
	replay integer NOT NULL,
	queue smallint,
	generation bigint NOT NULL,
	until bigint NOT NULL,
	PRIMARY KEY (project_no, webhook_no, seq)
);
`;

/**
 * The sequence of an unlogged table is unlogged as well. A standby may be promoted before it has written that to disk, and
 * then it cannot be read ("bad magic number in sequence"): stores could no longer publish by SQL.
 */
const loggedSequence = `
ALTER TABLE posthorn.publishing ALTER COLUMN no DROP IDENTITY;
CREATE SEQUENCE posthorn.publishing_order;
ALTER TABLE posthorn.publishing ALTER COLUMN no SET DEFAULT nextval('posthorn.publishing_order');
`;

/** Due projects are taken in turn by their numbers: the index has them in that order. */
const alarmsInTurn = `
DROP INDEX posthorn.leases_by_alarm;
CREATE INDEX leases_by_alarm ON posthorn.leases (wake_at, project_no) WHERE wake_at IS NOT NULL;
`;

/**
 * What API keys may do, until when, and who created them. Earlier keys, and those that nodes of the previous version
 * create, may do everything. Sign-in links are found by account, to be deleted with its old password.
 */
const keysAndLinks = `
ALTER TABLE posthorn.api_keys
	ADD COLUMN scopes text NOT NULL DEFAULT 'publish read manage',
	ADD COLUMN expires_at bigint,
	ADD COLUMN creator_kind text,
	ADD COLUMN creator_id text,
	ADD COLUMN creator_name text;
CREATE INDEX links_by_account ON posthorn.links (account_id);
`;

/** For webhooks that ask for the headers of Standard Webhooks. Secrets of older versions have no second digest. */
const standardWebhooks = `
ALTER TABLE posthorn.webhooks
	ADD COLUMN sealed_standard_digest bytea, ADD COLUMN standard_webhooks boolean NOT NULL DEFAULT false;
`;

/** When a dead letter was dismissed: on the last attempt of its series, which nothing else changes. */
const dismissals = "ALTER TABLE posthorn.attempts ADD COLUMN dismissed_at bigint;";

/** What helps to explain a failed attempt, as JSON; null for most. */
const details = "ALTER TABLE posthorn.attempts ADD COLUMN details text;";

/** Which node sweeps, and until when; without a holder, when the next pass is due. At most one row. */
const sweeper = `
CREATE TABLE posthorn.sweeper (
	one boolean PRIMARY KEY,
	holder text,
	until bigint NOT NULL,
	CHECK (one)
) WITH (fillfactor = 50);
`;

/** The index of references: see verbs/search.ts. `ref` is the reference's number. */
const references = `
CREATE TABLE posthorn.event_references (
	project_no bigint NOT NULL,
	bucket bigint NOT NULL,
	ref bigint NOT NULL,
	seq bigint NOT NULL,
	PRIMARY KEY (project_no, bucket, ref, seq)
);

CREATE TABLE posthorn.reference_ranges (
	project_no bigint PRIMARY KEY,
	after_seq bigint NOT NULL,
	through_seq bigint NOT NULL,
	kept_from bigint NOT NULL
) WITH (fillfactor = 50);
`;

/**
 * The transaction that wrote the row, null for those of nodes of the previous version. `pg_upgrade` keeps both, and in a
 * restored dump another one has written it: see epochs.ts.
 */
const epochTransactions = "ALTER TABLE posthorn.epochs ADD COLUMN xid bigint;";

/** In the order of application; a database's version is how many of them it has. Never edit one. */
export const MIGRATIONS: readonly string[] = [
	initial,
	accounts,
	stats,
	facts,
	publish,
	linksAndAudit,
	countsOfASettle,
	// Replaces the functions in databases whose `publish` accepted what receivers read differently.
	functions,
	openEvents,
	closingWebhooks,
	epochs,
	handedOver,
	loggedSequence,
	alarmsInTurn,
	keysAndLinks,
	standardWebhooks,
	dismissals,
	details,
	sweeper,
	references,
	markedHints,
	epochTransactions,
];

/** Held during migration, so that nodes that start together migrate once ("posthorn", as a number). */
export const MIGRATION_LOCK = "8102087430316384878";
/** No limits: a migration may take longer, and so may the wait for another node's. */
const UNLIMITED = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0";
/**
 * How long a migration waits for a table that a long transaction uses, such as a dump, milliseconds. Meanwhile all other
 * sessions wait for it and for the tables that it has locked. So it then releases them all, and retries after a pause.
 */
const LOCK_MS = 200;
const PAUSE_MS = 1_000;

/** The oldest version of PostgreSQL that supports all statements, and its name. */
const OLDEST = { name: "14", number: 140_000 };

/**
 * Migrates the database on a separate connection without time limits, because others may be migrating.
 *
 * @param migrates false if an older schema is refused: a StorageError, `unusable`. A database without one gets it.
 */
export function prepareDatabase(hosts: Hosts, migrates = true): Promise<void> {
	return hosts.once((client) => migrate(client, migrates), {
		application_name: "posthorn migration",
		query_timeout: 0,
	});
}

/** Migrates the schema, all steps in one transaction. */
async function migrate(client: Client, migrates: boolean): Promise<void> {
	await checkVersion(client);
	const version = await readVersion(client);
	if (version === MIGRATIONS.length) return;
	if (version > 0 && !migrates)
		throw new StorageError(
			"unusable",
			`The database was last migrated by an earlier version of Posthorn (schema ${version}; this one knows ` +
				`${MIGRATIONS.length}), whose nodes may be running. Use that version's command, or upgrade first: ` +
				'"posthorn migrate" or the start of a node migrates the schema.',
		);
	for (let tries = 1; !(await applyMigrations(client)); tries++) {
		if (tries === 1)
			process.emitWarning("The migration waits for a transaction that uses a table, such as a dump, to end.");
		await sleep(systemClock, PAUSE_MS);
	}
}

/** Returns false, having changed nothing, if a table is in use. */
async function applyMigrations(client: Client): Promise<boolean> {
	await client.query("BEGIN");
	try {
		await client.query(UNLIMITED);
		await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
		await client.query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
		// Another node may have been faster.
		for (let next = await readVersion(client); next < MIGRATIONS.length; next++) {
			if (next === 0) await createVersionTable(client);
			await client.query(MIGRATIONS[next]!);
			await client.query("INSERT INTO posthorn.schema_versions (version) VALUES ($1)", [next + 1]);
		}
		await client.query("COMMIT");
		return true;
	} catch (error) {
		await client.query("ROLLBACK").catch(() => client.end());
		if (isLockTimeout(error)) return false;
		throw error;
	}
}

/** Throws a StorageError if the server is too old. */
export async function checkVersion(client: Client): Promise<void> {
	const { rows } = await client.query<{ number: number; name: string }>(
		"SELECT current_setting('server_version_num')::integer AS number, current_setting('server_version') AS name",
	);
	const { number, name } = rows[0]!;
	if (number < OLDEST.number)
		throw new StorageError("unusable", `The server is PostgreSQL ${name}: use version ${OLDEST.name} or later.`);
}

async function createVersionTable(client: Client): Promise<void> {
	await client.query(`
		CREATE SCHEMA IF NOT EXISTS posthorn;
		CREATE TABLE posthorn.schema_versions (
			version integer PRIMARY KEY,
			applied_at timestamptz NOT NULL DEFAULT now()
		)`);
}

/** How many migrations the database has. Throws a StorageError if that is more than this program knows. */
async function readVersion(client: Client): Promise<number> {
	// Reads rows of the catalog instead of looking up names (to_regclass): the server caches a missing name, even
	// across a lock that another session held to create it.
	const { rows: tables } = await client.query<{ found: boolean }>(`
		SELECT EXISTS (
			SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'posthorn' AND tablename = 'schema_versions'
		) AS found`);
	if (!tables[0]!.found) return 0;
	const { rows } = await client.query<{ version: number }>(
		"SELECT coalesce(max(version), 0) AS version FROM posthorn.schema_versions",
	);
	const { version } = rows[0]!;
	if (version > MIGRATIONS.length)
		throw new StorageError(
			"unusable",
			`The database was migrated by a newer version of Posthorn (schema ${version}; this one knows ` +
				`${MIGRATIONS.length}): start that version, or restore a backup made before the upgrade.`,
		);
	return version;
}
