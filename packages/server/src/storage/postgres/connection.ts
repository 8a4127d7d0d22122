import { Client, type ClientConfig, types } from "pg";
import { storageError } from "./errors.ts";
import { migrate } from "./migrate.ts";

/** Every wait has an end, milliseconds. A statement is ended by the database; the driver gives up a little later. */
const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 15_000;
const LOCK_TIMEOUT_MS = 10_000;
const IDLE_IN_TRANSACTION_MS = 10_000;
const QUERY_TIMEOUT_MS = 20_000;

/**
 * Every statement is a range of an index, with ten rows or ten million. What the planner guesses of a table that was
 * empty a moment ago must not make it another one, so the plans that read whole tables are what it takes last, and plans
 * are made once.
 */
const PLANS = ["enable_seqscan=off", "enable_bitmapscan=off", "jit=off", "plan_cache_mode=force_generic_plan"];

/** Types by their numbers in `pg_type`. */
const INT8 = 20;
const INT8_ARRAY = 1016;

function toNumber(text: string): number {
	const value = Number(text);
	if (!Number.isSafeInteger(value)) throw new RangeError(`The database holds ${text}, more than a number can tell.`);
	return value;
}

const toNumbers = (text: string): number[] => (text === "{}" ? [] : text.slice(1, -1).split(",").map(toNumber));

type Parser = (text: string) => unknown;

/** Bigint as number: no counter or time of ours goes beyond what a number holds. */
const getTypeParser = (oid: number, format?: "text" | "binary"): Parser => {
	if (oid === INT8) return toNumber;
	if (oid === INT8_ARRAY) return toNumbers;
	return types.getTypeParser(oid, format as "text");
};

/** How every connection to this database is made. */
export function connectionConfig(url: string): ClientConfig {
	return {
		connectionString: url,
		application_name: "posthorn",
		keepAlive: true,
		connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
		statement_timeout: STATEMENT_TIMEOUT_MS,
		lock_timeout: LOCK_TIMEOUT_MS,
		idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
		query_timeout: QUERY_TIMEOUT_MS,
		options: PLANS.map((setting) => `-c ${setting}`).join(" "),
		types: { getTypeParser: getTypeParser as typeof types.getTypeParser },
	};
}

/** Brings the database up to date on a connection of its own, whose waits have no end: others may be migrating. */
export async function prepareDatabase(url: string): Promise<void> {
	const client = new Client({
		connectionString: url,
		application_name: "posthorn migration",
		connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
	});
	// Whoever waits for a statement hears of it.
	client.on("error", () => undefined);
	try {
		await client.connect();
		await migrate(client);
	} catch (error) {
		throw storageError(error);
	} finally {
		await client.end();
	}
}
