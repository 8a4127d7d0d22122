import type { Client } from "pg";
import type { LostTail } from "../../port/peers.ts";
import { checkServer, MIGRATIONS, schemaVersion } from "../migrations/index.ts";
import { readSchemaParts, type SchemaPart } from "../migrations/schema-parts.ts";
import { Hosts, placeOf } from "./servers.ts";
import { checkSessions, OWN_NAMES } from "./session-settings.ts";

/** The state of a database, as seen from outside. */
export interface DatabaseFacts {
	/** `host:port/database`. */
	readonly place: string;
	/** The server's version, in its own words. */
	readonly version: string;
	/** Whether connections go through a pool that keeps sessions. */
	readonly pooled: boolean;
	/** Whether this user may migrate the schema, or create it; whether the server accepts writes at all. */
	readonly mayPrepare: boolean;
	readonly readOnly: boolean;
	/** Whether this user may create, read and drop the daily tables of the delivery log; true if there is no log yet. */
	readonly mayKeepLog: boolean;
	/** The log's partitions that aren't days of ours, such as a default one: retention leaves them alone. */
	readonly otherPartitions: readonly string[];
	/** Tables of which row-level security hides rows from this user. */
	readonly hidden: readonly string[];
	/** What the current schema has and this one lacks; of one without its version, only that. */
	readonly missing: readonly SchemaPart[];
	/** Whether a standby is the reason for `readOnly`. */
	readonly isStandby: boolean;
	/** Whether the schema exists, even if empty. */
	readonly hasSchema: boolean;
	/** This user, as SQL names it. */
	readonly quotedUser: string;
	/** How others are kept from reading what is sent to and from the database. */
	readonly privacy: Privacy;
	/** The values of the named settings that are set. */
	readonly settings: ReadonlyMap<string, string>;
	/** How many migrations it has, and how many this program knows. */
	readonly schema: number;
	readonly knownSchema: number;
	/** The database's clock minus this machine's, in milliseconds; the shorter the round trip, the more precise. */
	readonly clockDifferenceMs: number;
	/** Under the limit that leaves this user the fewest. */
	readonly connections: { readonly left: number; readonly most: number; readonly limit: ConnectionLimit };
	/** This user's commits that have waited for a synchronous standby for some time. */
	readonly unreplicated: number;
	/** For statements and commits. */
	readonly synchronousCommit: string;
	readonly fsync: string;
	/** Acknowledged events lost in failovers, if a node knew of them. */
	readonly losses: { readonly projects: number; readonly newest: readonly Loss[] };
}

export type ConnectionLimit = "server" | "database" | "user";

type Loss = Pick<LostTail, "projectId" | "kept" | "lost">;

const LOSSES_NAMED = 5;
/** How long a commit usually doesn't wait for a standby. */
const LONG_COMMIT = "3 s";
/** The table of the schema's version. */
const VERSIONS = "schema_versions";

/** Examines a database, and some settings in it, without changing it. Rejects with a StorageError as opening it would. */
export async function examinePostgres(url: string, settings: readonly string[] = []): Promise<DatabaseFacts> {
	const hosts = new Hosts(url);
	return await hosts.once(async (client) => {
		const { pooled } = await checkSessions(hosts.current);
		await client.query(OWN_NAMES.session);
		return { place: placeOf(hosts.current), ...(await examineServer(client, pooled, settings)) };
	});
}

type Limit = readonly [limit: ConnectionLimit, most: number, used: number];

/**
 * The limits on this user's connections. Of other users' sessions, only a few columns are visible; clients' sessions
 * have a user and a database. A server reserves its last connections for superusers, and some for members of
 * `pg_use_reserved_connections`.
 */
const LIMITS = `
	SELECT 'server' AS "limit", count(*) AS used,
		current_setting('max_connections')::integer - CASE WHEN r.rolsuper THEN 0 ELSE
			current_setting('superuser_reserved_connections')::integer
			+ coalesce(current_setting('reserved_connections', true), '0')::integer END AS most
	FROM pg_stat_activity WHERE usesysid IS NOT NULL AND datid IS NOT NULL
	UNION ALL
	SELECT 'database', count(*), min(d.datconnlimit)
	FROM pg_stat_activity a JOIN pg_database d ON d.oid = a.datid
	WHERE d.datname = current_database() AND d.datconnlimit >= 0 AND NOT r.rolsuper HAVING count(*) > 0
	UNION ALL
	SELECT 'user', count(*), r.rolconnlimit
	FROM pg_stat_activity a WHERE a.usesysid = r.oid AND r.rolconnlimit >= 0 AND NOT r.rolsuper HAVING count(*) > 0`;

function scarcest(limits: readonly Limit[]): DatabaseFacts["connections"] {
	const all = limits.map(([limit, most, used]) => ({ limit, most, left: Math.max(0, most - used) }));
	return all.reduce((one, other) => (other.left < one.left ? other : one));
}

async function examineServer(
	client: Client,
	pooled: boolean,
	names: readonly string[],
): Promise<Omit<DatabaseFacts, "place">> {
	await checkServer(client);
	const begun = Date.now();
	const { rows } = await client.query<DatabaseState>(`
		SELECT current_setting('server_version') AS version,
			floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
			(SELECT json_agg(json_build_array(l.limit, l.most, l.used)) FROM (${LIMITS}) l) AS limits,
			current_setting('synchronous_commit') AS "synchronousCommit",
			current_setting('fsync') AS fsync,
			(SELECT count(*) FROM pg_stat_activity WHERE usesysid = r.oid AND wait_event = 'SyncRep'
				AND state_change < clock_timestamp() - interval '${LONG_COMMIT}') AS unreplicated,
			current_setting('transaction_read_only') = 'on' AS "readOnly",
			(SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()) AS encrypted,
			host(inet_client_addr()) AS "clientAddress", host(inet_server_addr()) AS "serverAddress",
			CASE WHEN n.oid IS NULL THEN has_database_privilege(current_database(), 'CREATE')
				ELSE has_schema_privilege(n.oid, 'CREATE') AND (v.oid IS NULL OR pg_has_role(v.relowner, 'USAGE'))
			END AS "mayPrepare",
			a.oid IS NULL OR has_schema_privilege(n.oid, 'CREATE') AND (
				SELECT bool_and(pg_has_role(d.relowner, 'USAGE')) FROM pg_class d
				WHERE d.oid = a.oid OR d.relnamespace = n.oid AND d.relname ~ '^attempts_[0-9]{8}$'
					AND d.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = a.oid)
			) AS "mayKeepLog",
			ARRAY(
				SELECT d.oid::regclass::text FROM pg_inherits i JOIN pg_class d ON d.oid = i.inhrelid
				WHERE i.inhparent = a.oid AND NOT (d.relnamespace = n.oid AND d.relname ~ '^attempts_[0-9]{8}$')
				ORDER BY d.relname
			) AS "otherPartitions",
			ARRAY(
				SELECT c.relname::text FROM pg_class c
				WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p') AND row_security_active(c.oid) ORDER BY 1
			) AS hidden,
			pg_is_in_recovery() AS "isStandby",
			n.oid IS NOT NULL AS "hasSchema", quote_ident(session_user) AS "quotedUser",
			to_regclass('posthorn.schema_versions') IS NOT NULL AS prepared,
			to_regclass('posthorn.log_forks') IS NOT NULL AS "hasForks"
		FROM pg_roles r LEFT JOIN pg_namespace n ON n.nspname = 'posthorn'
			LEFT JOIN pg_class v ON v.relnamespace = n.oid AND v.relname = 'schema_versions'
			LEFT JOIN pg_class a ON a.relnamespace = n.oid AND a.relname = 'attempts'
		WHERE r.rolname = session_user`);
	const ended = Date.now();
	const { now, limits, prepared, hasForks, encrypted, clientAddress, serverAddress, ...facts } = rows[0]!;
	const schema = prepared ? await schemaVersion(client) : 0;
	const missing = schema === 0 || schema === MIGRATIONS.length ? await readMissing(client) : [];
	const lacks = (table: string) => missing.some(({ name }) => name === table);
	return {
		...facts,
		missing,
		privacy: privacyOf(client.connection.stream, { encrypted, clientAddress, serverAddress }),
		settings: prepared && !lacks("settings") ? await readSettings(client, names) : new Map(),
		pooled,
		schema,
		knownSchema: MIGRATIONS.length,
		clockDifferenceMs: Math.round(now - (begun + ended) / 2),
		connections: scarcest(limits),
		losses: hasForks && !lacks("projects") ? await readLosses(client) : { projects: 0, newest: [] },
	};
}

/** Nothing if there is no schema yet. If only the table of its version is gone, the others may be of any version. */
async function readMissing(client: Client): Promise<SchemaPart[]> {
	const { rows } = await client.query<{ name: string }>(
		"SELECT relname::text AS name FROM pg_class WHERE relnamespace = to_regnamespace('posthorn')",
	);
	const names = new Set(rows.map(({ name }) => name));
	const parts = readSchemaParts();
	if (!names.has(VERSIONS))
		return parts.some(({ name }) => names.has(name)) ? parts.filter(({ name }) => name === VERSIONS) : [];
	return parts.filter(({ name }) => !names.has(name));
}

async function readSettings(client: Client, names: readonly string[]): Promise<Map<string, string>> {
	const { rows } = await client.query<{ name: string; value: string }>(
		"SELECT name, value FROM posthorn.settings WHERE name = ANY ($1)",
		[names],
	);
	return new Map(rows.map(({ name, value }) => [name, value]));
}

async function readLosses(client: Client): Promise<DatabaseFacts["losses"]> {
	const { rows: counted } = await client.query<{ projects: number }>(
		"SELECT count(DISTINCT project_no)::bigint AS projects FROM posthorn.log_forks WHERE lost IS NOT NULL",
	);
	const { rows: newest } = await client.query<Loss>(
		`SELECT p.id AS "projectId", f.kept, f.lost
		FROM posthorn.log_forks f JOIN posthorn.projects p ON p.no = f.project_no
		WHERE f.lost IS NOT NULL ORDER BY f.epoch DESC, f.project_no LIMIT $1`,
		[LOSSES_NAMED],
	);
	return { projects: counted[0]!.projects, newest };
}

interface DatabaseState
	extends ServerEnd,
		Pick<
			DatabaseFacts,
			| "version"
			| "synchronousCommit"
			| "fsync"
			| "readOnly"
			| "isStandby"
			| "mayPrepare"
			| "mayKeepLog"
			| "otherPartitions"
			| "hasSchema"
			| "hidden"
			| "unreplicated"
			| "quotedUser"
		> {
	readonly now: number;
	readonly limits: readonly Limit[];
	readonly prepared: boolean;
	readonly hasForks: boolean;
}

/**
 * Whether others can read what a connection to the database carries. `local`: it doesn't leave this machine.
 * `unverified`: it is encrypted, but someone in between could pretend to be the server.
 */
export type Privacy = "local" | "encrypted" | "unverified" | "readable";

/** This end of a connection. It has no address if it goes through a file, and only TLS has the last two. */
interface OwnEnd {
	readonly remoteAddress?: string | undefined;
	readonly localAddress?: string | undefined;
	readonly encrypted?: boolean;
	readonly authorized?: boolean;
}

/** The server's end, which is of another connection if there is a proxy or a pooler in between. */
interface ServerEnd {
	readonly encrypted: boolean | null;
	readonly clientAddress: string | null;
	readonly serverAddress: string | null;
}

export function privacyOf(socket: object, server: ServerEnd): Privacy {
	const { remoteAddress, localAddress, encrypted = false, authorized = false }: OwnEnd = socket;
	const leaves = isElsewhere(remoteAddress, localAddress);
	const arrives = isElsewhere(server.clientAddress, server.serverAddress);
	if ((leaves && !encrypted) || (arrives && server.encrypted === false)) return "readable";
	if (leaves && !authorized) return "unverified";
	return leaves ? "encrypted" : "local";
}

const LOOPBACK = /^(?:(?:::ffff:)?127\.|::1$)/;

const isElsewhere = (address: string | null | undefined, own: string | null | undefined): boolean =>
	address !== null && address !== undefined && !LOOPBACK.test(address) && address !== own;
