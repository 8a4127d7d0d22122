import { Client, type ClientConfig, type PoolConfig, types } from "pg";
import { storageError } from "./errors.ts";
import type { Hosts } from "./hosts.ts";
import { migrate } from "./migrate.ts";

/** How long a connection may take, and the driver waits for a statement that the database should have ended, milliseconds. */
const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 20_000;

/**
 * Settings of every session, by PostgreSQL's names and in its notation (times in milliseconds). Every wait has a limit.
 * And every statement reads an index range, with ten rows or ten million: the planner's guesses about a table that was
 * just empty must not change that, so sequential scans come last, and plans are made once.
 */
export const SESSION_SETTINGS = {
	statement_timeout: "15000",
	lock_timeout: "2000",
	idle_in_transaction_session_timeout: "10000",
	enable_seqscan: "off",
	enable_bitmapscan: "off",
	jit: "off",
	plan_cache_mode: "force_generic_plan",
} as const;
const SETTINGS = Object.entries(SESSION_SETTINGS);
export const SET_SETTINGS = SETTINGS.map(([name, value]) => `SET ${name} = ${value}`).join("; ");

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
		connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
		query_timeout: QUERY_TIMEOUT_MS,
		types: { getTypeParser: getTypeParser as typeof types.getTypeParser },
	};
}

/** A direct connection: the session starts with its settings. */
export function connectionConfig(url: string): ClientConfig {
	return { ...plainConfig(url), options: SETTINGS.map(([name, value]) => `-c ${name}=${value}`).join(" ") };
}

/** … and a connection through a pooler that refuses startup settings: they are its first statement. */
export function pooledConfig(url: string): PoolConfig {
	return { ...plainConfig(url), onConnect: (client) => client.query(SET_SETTINGS) };
}

/** Migrates the database on a separate connection without time limits, because others may be migrating. */
export async function prepareDatabase(hosts: Hosts): Promise<void> {
	try {
		await hosts.connect((url) => prepareServer(hosts, url));
	} catch (error) {
		throw storageError(error);
	}
}

async function prepareServer(hosts: Hosts, url: string): Promise<void> {
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
		await migrate(client);
	} finally {
		await client.end();
	}
}
