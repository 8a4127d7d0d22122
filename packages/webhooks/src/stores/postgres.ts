import { type Claim, checkedKeepDays, type InboxEntry, type InboxStore, KEEP_DAYS } from "../store.ts";
import { PURGE_EVERY_MS, PURGE_ROWS, quotedTable, TABLE } from "./table.ts";

/** What the store needs of a connection: a `Pool` of `pg` has it, and so do compatible clients. */
export interface PostgresClient {
	query(sql: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

export interface PostgresStoreOptions {
	/** The table, possibly with its schema. It is created if it doesn't exist. `posthorn_events` by default. */
	readonly table?: string;
	/** How long finished events are remembered, days. 31 by default. */
	readonly keepDays?: number;
}

/** Errors of `CREATE … IF NOT EXISTS` when another process creates the same table or index concurrently. */
const CREATED_CONCURRENTLY = new Set(["23505", "42P07", "42710"]);

/**
 * Remembers events in PostgreSQL, whose clock decides about leases. Pass a pool rather than one connection: a claim must
 * not become part of a transaction that the application rolls back.
 */
export function postgresStore(
	client: PostgresClient,
	{ table = TABLE, keepDays = KEEP_DAYS }: PostgresStoreOptions = {},
): InboxStore {
	if (typeof client?.query !== "function")
		throw new TypeError("postgresStore needs a pool, such as new Pool({ connectionString }) of pg.");
	checkedKeepDays(keepDays);
	const name = quotedTable(table);
	let created: Promise<void> | undefined;
	let purgedAt = Number.NEGATIVE_INFINITY;

	async function run(sql: string, values: unknown[]): Promise<unknown[]> {
		created ??= create(client, table).catch((error: unknown) => {
			created = undefined;
			throw error;
		});
		await created;
		return (await client.query(sql, values)).rows;
	}
	const changes = async (sql: string, values: unknown[]): Promise<boolean> => (await run(sql, values)).length > 0;

	async function purgeSometimes(): Promise<void> {
		if (performance.now() - purgedAt < PURGE_EVERY_MS) return;
		purgedAt = performance.now();
		const { length } = await run(
			`DELETE FROM ${name} WHERE key IN (
				SELECT key FROM ${name} WHERE body IS NULL AND due < clock_timestamp() - $1 * interval '1 day'
				LIMIT ${PURGE_ROWS} FOR UPDATE SKIP LOCKED) RETURNING 1`,
			[keepDays],
		);
		// If there may be more, the next claim purges again, so that the table doesn't grow faster than it is purged.
		if (length === PURGE_ROWS) purgedAt = Number.NEGATIVE_INFINITY;
	}

	return {
		async claim(key, token, leaseMs): Promise<Claim> {
			await purgeSometimes();
			const isClaimed = await changes(
				`INSERT INTO ${name} AS event (key, token, due) VALUES ($1, $2, ${after("$3")})
				ON CONFLICT (key) DO UPDATE SET token = excluded.token, due = excluded.due
				WHERE NOT event.done AND event.due <= clock_timestamp() RETURNING 1`,
				[key, token, leaseMs],
			);
			if (isClaimed) return "claimed";
			const [row] = (await run(`SELECT done FROM ${name} WHERE key = $1`, [key])) as { done: boolean }[];
			return row?.done ? "done" : "in_progress";
		},
		renew: (key, token, leaseMs) =>
			changes(`UPDATE ${name} SET due = ${after("$3")} WHERE key = $1 AND token = $2 AND NOT done RETURNING 1`, [
				key,
				token,
				leaseMs,
			]),
		finish: (key, token) =>
			changes(
				`UPDATE ${name} SET done = true, body = NULL, token = NULL, due = clock_timestamp()
				WHERE key = $1 AND token = $2 AND NOT done RETURNING 1`,
				[key, token],
			),
		async release(key, token, delayMs) {
			await run(`UPDATE ${name} SET token = NULL, due = ${after("$3")} WHERE key = $1 AND token = $2 AND NOT done`, [
				key,
				token,
				delayMs,
			]);
		},
		async put(key, body) {
			await purgeSometimes();
			return changes(
				`INSERT INTO ${name} AS event (key, due, body) VALUES ($1, clock_timestamp(), $2)
				ON CONFLICT (key) DO UPDATE SET body = excluded.body WHERE NOT event.done AND event.body IS NULL RETURNING 1`,
				[key, body],
			);
		},
		async next(token, leaseMs) {
			const [row] = (await run(
				`UPDATE ${name} SET token = $1, due = ${after("$2")}, tries = tries + 1
				WHERE key = (SELECT key FROM ${name} WHERE body IS NOT NULL AND due <= clock_timestamp()
					ORDER BY due LIMIT 1 FOR UPDATE SKIP LOCKED)
				RETURNING key, body, tries`,
				[token, leaseMs],
			)) as InboxEntry[];
			return row && { key: row.key, body: row.body, tries: row.tries };
		},
	};
}

/** SQL for the time after this many milliseconds. */
function after(milliseconds: string): string {
	return `clock_timestamp() + ${milliseconds}::float8 * interval '1 millisecond'`;
}

/** Looks first, so that a role that may not create tables can use one that exists. */
async function create(client: PostgresClient, table: string): Promise<void> {
	const name = quotedTable(table);
	const index = (suffix: string) => `"${table.split(".").at(-1)}_${suffix}"`;
	const { rows } = await client.query("SELECT to_regclass($1) IS NOT NULL AS exists", [name]);
	if ((rows as { exists: boolean }[])[0]?.exists) return;
	try {
		// PostgreSQL runs the whole string as one transaction, so the table never appears without its indexes.
		await client.query(`
			CREATE TABLE IF NOT EXISTS ${name} (
				key text PRIMARY KEY, token text, due timestamptz NOT NULL, tries integer NOT NULL DEFAULT 0,
				done boolean NOT NULL DEFAULT false, body text
			);
			CREATE INDEX IF NOT EXISTS ${index("due")} ON ${name} (due) WHERE body IS NOT NULL;
			CREATE INDEX IF NOT EXISTS ${index("old")} ON ${name} (due) WHERE body IS NULL;
		`);
	} catch (error) {
		if (!CREATED_CONCURRENTLY.has((error as { code?: string }).code ?? "")) throw error;
	}
}
