import { Client } from "pg";
import { StorageError } from "../../port.ts";
import { MIGRATIONS } from "../migrations/index.ts";
import { storageError } from "./errors.ts";
import type { Hosts } from "./servers.ts";
import { CONNECT_TIMEOUT_MS } from "./session-settings.ts";

/** Held during migration, so that nodes that start together migrate once ("posthorn", as a number). */
export const MIGRATION_LOCK = "8102087430316384878";
/** No limits: a migration may take longer, and so may the wait for another node's. */
const UNLIMITED = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0";

/** The oldest version of PostgreSQL that supports all statements, and its name. */
const OLDEST = { name: "14", number: 140_000 };

/**
 * Migrates the database on a separate connection without time limits, because others may be migrating.
 *
 * @param migrates false if an older schema is refused: a StorageError, `unusable`. A database without one gets it.
 */
export async function prepareDatabase(hosts: Hosts, migrates = true): Promise<void> {
	try {
		await hosts.connect((url) => prepareServer(hosts, url, migrates));
	} catch (error) {
		throw storageError(error);
	}
}

async function prepareServer(hosts: Hosts, url: string, migrates: boolean): Promise<void> {
	const client = new Client({
		connectionString: url,
		application_name: "posthorn migration",
		connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
	});
	// The pending statement rejects too.
	client.on("error", () => undefined);
	try {
		await client.connect();
		await hosts.check(client);
		await migrate(client, migrates);
	} finally {
		await client.end();
	}
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
	await client.query("BEGIN");
	try {
		await client.query(UNLIMITED);
		await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
		// Another node may have been faster.
		for (let next = await readVersion(client); next < MIGRATIONS.length; next++) {
			if (next === 0) await createVersionTable(client);
			await client.query(MIGRATIONS[next]!);
			await client.query("INSERT INTO posthorn.schema_versions (version) VALUES ($1)", [next + 1]);
		}
		await client.query("COMMIT");
	} catch (error) {
		await client.query("ROLLBACK").catch(() => client.end());
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
