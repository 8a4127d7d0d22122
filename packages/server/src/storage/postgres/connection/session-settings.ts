import { Client, type ClientConfig, type PoolConfig, types } from "pg";
import { StorageError } from "../../port.ts";
import { connectError, isStartupRefused, SHARED_SESSIONS, storageError } from "./errors.ts";

/** How long a connection may take, and the driver waits for a statement that the database should have ended, milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 20_000;
/**
 * How long a connection may be idle before the operating system probes it, milliseconds. Many firewalls silently
 * forget one that is idle for minutes. The connection that listens only reads, so nothing else would notice.
 */
const PROBE_AFTER_MS = 30_000;

/**
 * Settings of every session, by PostgreSQL's names and in its notation (times in milliseconds). Every wait has a limit.
 * And every statement reads an index range, with ten rows or ten million: the planner's guesses about a table that was
 * just empty must not change that, so sequential scans come last, and plans are made once. Each statement sees what was
 * committed before it, even if the database, which may be a store's, has another default. Nor may its defaults end idle
 * sessions, which pools do and listening can't bear, turn NULL in arrays into text, or suppress warnings: one of them
 * says that a commit isn't on a standby. A statement fails if row-level
 * security would hide rows from it: they would seem deleted. And a name without a schema is PostgreSQL's own: otherwise an
 * operator that a store creates could run with this user's rights.
 */
export const SESSION_SETTINGS = {
	statement_timeout: "15000",
	lock_timeout: "2000",
	idle_in_transaction_session_timeout: "10000",
	idle_session_timeout: "0",
	array_nulls: "on",
	client_min_messages: "warning",
	enable_seqscan: "off",
	enable_bitmapscan: "off",
	jit: "off",
	plan_cache_mode: "force_generic_plan",
	default_transaction_isolation: "read committed",
	row_security: "off",
	search_path: "pg_catalog",
} as const;
const SETTINGS = Object.entries(SESSION_SETTINGS);
const SET_SETTINGS = SETTINGS.map(([name, value]) => `SET ${name} = '${value}'`).join("; ");
/**
 * For connections without the session settings: those of a transaction, and of a session if the connection is known to
 * have one. Otherwise another client of a pool would get them.
 */
export const OWN_NAMES = {
	transaction: `SET LOCAL search_path = ${SESSION_SETTINGS.search_path}`,
	session: `SET search_path = ${SESSION_SETTINGS.search_path}`,
} as const;
/** As startup options, in which spaces separate them. */
const OPTIONS = SETTINGS.map(([name, value]) => `-c ${name}=${value.replaceAll(" ", "\\ ")}`).join(" ");

/** Types by their numbers in `pg_type`. */
const INT8 = 20;
const INT8_ARRAY = 1016;

function toNumber(text: string): number {
	const value = Number(text);
	if (!Number.isSafeInteger(value))
		throw new RangeError(`The database holds ${text}, which a number can't represent exactly.`);
	return value;
}

const toNumbers = (text: string): number[] => (text === "{}" ? [] : text.slice(1, -1).split(",").map(toNumber));

type Parser = (text: string) => unknown;

/** Reads bigint as number: none of our counters or times exceeds the range of exact integers. */
const getTypeParser = (oid: number, format?: "text" | "binary"): Parser => {
	if (oid === INT8) return toNumber;
	if (oid === INT8_ARRAY) return toNumbers;
	return types.getTypeParser(oid, format as "text");
};

/** Without the session settings. */
export function plainConfig(url: string): ClientConfig {
	return {
		connectionString: url,
		application_name: "posthorn",
		keepAlive: true,
		keepAliveInitialDelayMillis: PROBE_AFTER_MS,
		connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
		query_timeout: QUERY_TIMEOUT_MS,
		types: { getTypeParser: getTypeParser as typeof types.getTypeParser },
	};
}

/** A direct connection: the session starts with its settings. */
export function connectionConfig(url: string): ClientConfig {
	return { ...plainConfig(url), options: OPTIONS };
}

/** … and a connection through a pooler that refuses startup settings: they are its first statement. */
function pooledConfig(url: string): PoolConfig {
	return { ...plainConfig(url), onConnect: (client) => client.query(SET_SETTINGS) };
}

/** Opens a connection that is in no pool. Rejects as {@link connectError} says. */
export async function openClient(config: ClientConfig): Promise<Client> {
	const client = new Client(config);
	// The pending statement rejects with it.
	client.on("error", () => undefined);
	try {
		await client.connect();
	} catch (error) {
		// Doesn't wait for a server that may be gone.
		client.connection.stream.destroy();
		throw connectError(error);
	}
	return client;
}

/**
 * Checks that connections are PostgreSQL sessions. They must be: statements are prepared and settings are made once per
 * connection, and nodes listen on one. A pooler in front of the server (such as pgbouncer) may run each transaction in
 * a different session. Then none of that works, and errors show up later and elsewhere. The check runs before anything
 * is changed.
 *
 * - A server reports its process id when a session starts, and the same one when asked. A pooler makes one up.
 * - If they differ, two connections take turns: one asks for its process id while the other occupies a process with a
 *   transaction. If that is the first one's process, or the first one is now in another, they share.
 * - Poolers refuse or drop startup settings. In that case a statement makes them, and they are read back.
 */

/**
 * How often two connections take turns. Another client of the pool may hide the sharing once, but hardly every time.
 */
const TURNS = 5;

interface Sessions {
	/** How to connect to this server, and to others like it. */
	readonly configFor: (url: string) => PoolConfig;
	/** Whether there is a pooler that preserves sessions in between. */
	readonly pooled: boolean;
}

/** Rejects with a StorageError: `lost` if there is no response, `unusable` if connections aren't sessions. */
export async function checkSessions(url: string): Promise<Sessions> {
	try {
		return await check(url);
	} catch (error) {
		throw storageError(error);
	}
}

async function check(url: string): Promise<Sessions> {
	const opened: Client[] = [];
	const open = async (config: ClientConfig): Promise<Client> => {
		const client = await openClient(config);
		opened.push(client);
		return client;
	};
	try {
		const first = await open(connectionConfig(url)).catch((error: unknown) => {
			if (isStartupRefused(error)) return open(plainConfig(url));
			throw error;
		});
		const pooled = (await processOf(first)) !== announcedProcess(first);
		if (pooled && (await sharesSessions(first, await open(plainConfig(url)))))
			throw new StorageError("unusable", SHARED_SESSIONS);
		if (await hasSettings(first)) return { configFor: connectionConfig, pooled };
		await first.query(SET_SETTINGS);
		if (await hasSettings(first)) return { configFor: pooledConfig, pooled };
		throw new StorageError(
			"unusable",
			"A pooler between Posthorn and PostgreSQL refuses session settings (such as statement_timeout): " +
				"point POSTHORN_DATABASE_URL at PostgreSQL itself.",
		);
	} finally {
		await Promise.all(opened.map((client) => client.end()));
	}
}

/** The server's process id for this statement. */
async function processOf(client: Client): Promise<number> {
	const { rows } = await client.query<{ pid: number }>("SELECT pg_catalog.pg_backend_pid() AS pid");
	return rows[0]!.pid;
}

/** The process id reported when the session began, which the driver keeps for canceling statements. */
const announcedProcess = (client: Client): unknown => "processID" in client && client.processID;

async function sharesSessions(one: Client, other: Client): Promise<boolean> {
	const processes = new Set<number>();
	for (let turn = 0; turn < TURNS; turn++) {
		// Twice, for a pool that hands out its sessions round-robin.
		for (let times = 0; times < 2; times++) processes.add(await processOf(one));
		await other.query("BEGIN");
		const kept = await processOf(other);
		processes.add(await processOf(one));
		await other.query("COMMIT");
		if (processes.size > 1 || processes.has(kept)) return true;
	}
	return false;
}

async function hasSettings(client: Client): Promise<boolean> {
	const { rows } = await client.query<{ name: keyof typeof SESSION_SETTINGS; setting: string }>(
		"SELECT name, setting FROM pg_catalog.pg_settings WHERE name OPERATOR(pg_catalog.=) ANY ($1)",
		[Object.keys(SESSION_SETTINGS)],
	);
	return rows.length > 0 && rows.every(({ name, setting }) => setting === SESSION_SETTINGS[name]);
}
