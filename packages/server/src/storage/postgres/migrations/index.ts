import { readFileSync } from "node:fs";
import type { Client } from "pg";
import { sleep, systemClock } from "../../../base/clock.ts";
import { StorageError } from "../../port.ts";
import { isLockTimeout } from "../connection/errors.ts";
import type { Hosts } from "../connection/servers.ts";
import { OWN_NAMES } from "../connection/session-settings.ts";
import { appendPublished, eventTypes, functions } from "./publish.ts";

/** What precedes the text in the file, by the migration's number. */
const GENERATED: Readonly<Record<number, string>> = {
	5: eventTypes + functions,
	8: functions,
	21: appendPublished,
	23: functions,
	25: appendPublished,
	26: functions + appendPublished,
};

/** A database's version is how many of them it has. */
export const MIGRATIONS: readonly string[] = readFileSync(new URL("./migrations.sql", import.meta.url), "utf8")
	.split(/^-- Migration .*$/m)
	.slice(1)
	.map((text, i) => (GENERATED[i + 1] ?? "") + text);

/** Held during migration, so that nodes that start together migrate once ("posthorn", as a number). */
export const MIGRATION_LOCK = "8102087430316384878";
/** Whatever the database's default: what another node has committed must be visible once its lock is free. */
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED; ${OWN_NAMES.transaction}`;
/** No limits: a migration may take longer, and so may the wait for another node's. Before version 17, one is unknown. */
const UNLIMITED = `
	SELECT set_config(name, '0', true) FROM pg_settings
	WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout')`;
/**
 * The role that gets what a migration creates: the owner of the tables or, in an empty schema, of the schema. Otherwise
 * nodes couldn't use the tables of an administrator who has migrated their database. None if this user, who may be the
 * nodes', lacks that role's rights or may not give it anything.
 */
const OWNER = `
	SELECT pg_get_userbyid(o.owner) AS name
	FROM (
		SELECT n.oid AS schema, coalesce(
			(SELECT c.relowner FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'schema_versions'),
			n.nspowner
		) AS owner
		FROM pg_namespace n WHERE n.nspname = 'posthorn'
	) o
	WHERE pg_has_role(o.owner, 'USAGE') AND has_schema_privilege(o.owner, o.schema, 'CREATE')
		AND pg_has_role(o.owner, CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END)`;
/** Statements that give the role $1 what belongs to this user, except parts of tables: days and columns' sequences. */
const HAND_OVER = `
	SELECT format('ALTER %s OWNER TO %I', mine.what, $1::name) AS statement
	FROM (
		SELECT 'TABLE ' || c.oid::regclass AS what, c.relowner AS owner, c.relnamespace AS schema
		FROM pg_class c WHERE c.relkind IN ('r', 'p', 'S') AND NOT EXISTS (
			SELECT FROM pg_depend d
			WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i') AND d.refobjid <> c.oid
		)
		UNION ALL
		SELECT 'ROUTINE ' || p.oid::regprocedure, p.proowner, p.pronamespace FROM pg_proc p
	) mine
	WHERE mine.schema = 'posthorn'::regnamespace AND pg_get_userbyid(mine.owner) = current_user AND current_user <> $1::name`;
/**
 * How long a migration waits for a table that a long transaction uses, such as a dump, milliseconds. Meanwhile all other
 * sessions wait for it and for the tables that it has locked. So it then releases them all, and retries after a pause.
 */
const LOCK_MS = 200;
const PAUSE_MS = 1_000;

/** The oldest version of PostgreSQL that supports all statements, and its name. */
const OLDEST = { name: "14", number: 140_000 };
/** Encodings that can store any text. */
const ENCODINGS: ReadonlySet<string> = new Set(["UTF8", "SQL_ASCII"]);

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

/** Migrates the schema, all steps in one transaction. Sets nothing outside a transaction: the connection may be a pool's. */
async function migrate(client: Client, migrates: boolean): Promise<void> {
	await client.query(BEGIN);
	await checkServer(client);
	const version = await readVersion(client);
	await client.query("ROLLBACK");
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
	await client.query(BEGIN);
	try {
		await client.query(UNLIMITED);
		const { rows } = await client.query<{ isFree: boolean }>(
			`SELECT pg_try_advisory_xact_lock(${MIGRATION_LOCK}) AS "isFree"`,
		);
		if (!rows[0]!.isFree) {
			process.emitWarning("Another node is migrating the database: waiting for it to end.");
			await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
		}
		await client.query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
		const { rows: owners } = await client.query<{ name: string }>(OWNER);
		// Another node may have been faster.
		for (let next = await readVersion(client); next < MIGRATIONS.length; next++) {
			if (next === 0) await createVersionTable(client);
			await client.query(MIGRATIONS[next]!);
			await client.query("INSERT INTO posthorn.schema_versions (version) VALUES ($1)", [next + 1]);
		}
		for (const { name } of owners) await handOver(client, name);
		await client.query("COMMIT");
		return true;
	} catch (error) {
		await client.query("ROLLBACK").catch(() => client.end());
		if (isLockTimeout(error)) return false;
		throw error;
	}
}

async function handOver(client: Client, owner: string): Promise<void> {
	const { rows } = await client.query<{ statement: string }>(HAND_OVER, [owner]);
	for (const { statement } of rows) await client.query(statement);
}

/** Throws a StorageError if the server is too old, or a new database can't store all texts. */
export async function checkServer(client: Client): Promise<void> {
	const { rows } = await client.query<{ number: number; name: string; encoding: string; isNew: boolean }>(
		`SELECT current_setting('server_version_num')::integer AS number, current_setting('server_version') AS name,
			current_setting('server_encoding') AS encoding, to_regclass('posthorn.schema_versions') IS NULL AS "isNew"`,
	);
	const { number, name, encoding, isNew } = rows[0]!;
	if (number < OLDEST.number)
		throw new StorageError("unusable", `The server is PostgreSQL ${name}: use version ${OLDEST.name} or later.`);
	if (isNew && !ENCODINGS.has(encoding))
		throw new StorageError(
			"unusable",
			`The database's encoding is ${encoding}, which lacks characters: create one with ENCODING 'UTF8' TEMPLATE template0.`,
		);
}

async function createVersionTable(client: Client): Promise<void> {
	// Even with IF NOT EXISTS, PostgreSQL wants the permission to create schemas, which the owner of this one needn't have.
	const { rows } = await client.query("SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'posthorn'");
	if (rows.length === 0) await client.query("CREATE SCHEMA posthorn");
	const { rows: tables } = await client.query(
		"SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'posthorn' AND tablename = 'projects'",
	);
	if (tables.length > 0)
		throw new StorageError(
			"unusable",
			"The table posthorn.schema_versions is missing, but others exist. If it was renamed or moved, undo that; " +
				"otherwise restore a backup.",
		);
	await client.query(`
		CREATE TABLE posthorn.schema_versions (
			version integer PRIMARY KEY,
			applied_at timestamptz NOT NULL DEFAULT now()
		)`);
}

/** How many migrations have been applied to a database that has the schema. */
export async function schemaVersion(client: Client): Promise<number> {
	const { rows } = await client.query<{ version: number }>(
		"SELECT coalesce(max(version), 0) AS version FROM posthorn.schema_versions",
	);
	return rows[0]!.version;
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
	const version = await schemaVersion(client);
	if (version > MIGRATIONS.length)
		throw new StorageError(
			"unusable",
			`The database was migrated by a newer version of Posthorn (schema ${version}; this one knows ` +
				`${MIGRATIONS.length}): start that version, or restore a backup made before the upgrade.`,
		);
	return version;
}
