import { type Claim, checkedKeepDays, DAY_MS, type InboxEntry, type InboxStore, KEEP_DAYS } from "../store.ts";
import { PURGE_EVERY_MS, PURGE_ROWS, quotedTable, TABLE } from "./table.ts";

/** How long to wait for another process that writes, milliseconds, unless the connection has a timeout of its own. */
const BUSY_MS = 5_000;

type Value = string | number | null;

/** What the store needs of a database: `node:sqlite`, `better-sqlite3` and `bun:sqlite` all have it. */
export interface SqliteDatabase {
	exec(sql: string): unknown;
	prepare(sql: string): { all(...values: Value[]): unknown[] };
}

export interface SqliteStoreOptions {
	/** The table, possibly with its schema, such as that of an attached database. It is created if it doesn't exist. `posthorn_events` by default. */
	readonly table?: string;
	/** How long finished events are remembered, days. 31 by default. */
	readonly keepDays?: number;
	/** The current time, milliseconds since the Unix epoch. */
	readonly now?: () => number;
}

/**
 * Remembers events in SQLite. Give it a connection of its own: a claim must not become part of a transaction that the
 * application rolls back.
 */
export function sqliteStore(
	database: SqliteDatabase,
	{ table = TABLE, keepDays = KEEP_DAYS, now = Date.now }: SqliteStoreOptions = {},
): InboxStore {
	if (typeof database?.prepare !== "function")
		throw new TypeError('sqliteStore needs an open database, such as new DatabaseSync("webhooks.db") of node:sqlite.');
	const keepMs = checkedKeepDays(keepDays) * DAY_MS;
	const name = quotedTable(table);
	// SQLite takes the schema before the index's name, not before the table's.
	const bare = quotedTable(table.split(".").at(-1)!);
	const index = (suffix: string) => quotedTable(`${table}_${suffix}`);
	waitForOthers(database);
	database.exec(`
		CREATE TABLE IF NOT EXISTS ${name} (
			key TEXT PRIMARY KEY, token TEXT, due INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0,
			done INTEGER NOT NULL DEFAULT 0, body TEXT
		);
		CREATE INDEX IF NOT EXISTS ${index("due")} ON ${bare} (due) WHERE body IS NOT NULL;
		CREATE INDEX IF NOT EXISTS ${index("old")} ON ${bare} (due) WHERE body IS NULL;
	`);
	// Claims are single statements, since two processes may share the file.
	const claim = database.prepare(
		`INSERT INTO ${name} (key, token, due) VALUES (?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET token = excluded.token, due = excluded.due WHERE done = 0 AND due <= ? RETURNING 1`,
	);
	const read = database.prepare(`SELECT done FROM ${name} WHERE key = ?`);
	const renew = database.prepare(`UPDATE ${name} SET due = ? WHERE key = ? AND token = ? AND done = 0 RETURNING 1`);
	const finish = database.prepare(
		`UPDATE ${name} SET done = 1, body = NULL, token = NULL, due = ? WHERE key = ? AND token = ? AND done = 0 RETURNING 1`,
	);
	const release = database.prepare(
		`UPDATE ${name} SET token = NULL, due = ? WHERE key = ? AND token = ? AND done = 0 RETURNING 1`,
	);
	const put = database.prepare(
		`INSERT INTO ${name} (key, due, body) VALUES (?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET body = excluded.body WHERE done = 0 AND body IS NULL RETURNING 1`,
	);
	const next = database.prepare(
		`UPDATE ${name} SET token = ?, due = ?, tries = tries + 1
		WHERE key = (SELECT key FROM ${name} WHERE body IS NOT NULL AND due <= ? ORDER BY due, rowid LIMIT 1)
		RETURNING key, body, tries`,
	);
	const purge = database.prepare(
		`DELETE FROM ${name} WHERE rowid IN (SELECT rowid FROM ${name} WHERE body IS NULL AND due < ? LIMIT ${PURGE_ROWS})
		RETURNING 1`,
	);

	let purgedAt = Number.NEGATIVE_INFINITY;
	function purgeSometimes(): void {
		if (now() - purgedAt < PURGE_EVERY_MS) return;
		// If there may be more, the next claim purges again, so that the table doesn't grow faster than it is purged.
		const { length } = purge.all(now() - keepMs);
		purgedAt = length < PURGE_ROWS ? now() : Number.NEGATIVE_INFINITY;
	}

	return {
		async claim(key, token, leaseMs): Promise<Claim> {
			purgeSometimes();
			if (claim.all(key, token, now() + leaseMs, now()).length > 0) return "claimed";
			const [row] = read.all(key) as { done: number }[];
			return row?.done ? "done" : "in_progress";
		},
		renew: async (key, token, leaseMs) => renew.all(now() + leaseMs, key, token).length > 0,
		finish: async (key, token) => finish.all(now(), key, token).length > 0,
		async release(key, token, delayMs) {
			release.all(now() + delayMs, key, token);
		},
		async put(key, body) {
			purgeSometimes();
			return put.all(key, now(), body).length > 0;
		},
		async next(token, leaseMs) {
			const [row] = next.all(token, now() + leaseMs, now()) as InboxEntry[];
			// A connection may return integers as BigInt.
			return row && { key: row.key, body: row.body, tries: Number(row.tries) };
		},
	};
}

/** By default, `node:sqlite` fails immediately if another process writes: a claim or, worse, its end would be lost. */
function waitForOthers(database: SqliteDatabase): void {
	const [row] = database.prepare("PRAGMA busy_timeout").all() as { timeout: number }[];
	if (!row?.timeout) database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
}
