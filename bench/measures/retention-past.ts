import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { lowestSuffixAt } from "../../packages/server/src/base/ids.ts";
import { EVENT_TYPE } from "../load/payload.ts";

const DAY_MS = 86_400_000;
/** How old the past is: older than the retention of 30 days. */
const AGE_DAYS = 40;
/** How long the service was off: longer than a clock may be ahead. */
const OFF_DAYS = 10;
/** Attempts of each old event: one for each webhook of its project. */
export const PAST_ATTEMPTS = 10;
const BODY_BYTES = 1_024;
/** Events of each project in a transaction. */
const AT_ONCE = 5_000;

/**
 * Writes `count` old events of each project, with an attempt for each of its webhooks, to a stopped service's database
 * that has no events yet. The database last saw the time ten days ago.
 */
export async function writeOldEvents(url: string, count: number): Promise<void> {
	const day = (Math.floor(Date.now() / DAY_MS) - AGE_DAYS) * DAY_MS;
	const seenAt = Date.now() - OFF_DAYS * DAY_MS;
	if (url.startsWith("sqlite:")) writeSqlite(url.slice("sqlite:".length), count, day, seenAt);
	else await writePostgres(url, count, day, seenAt);
}

/** Ids rise with the events, and within an event with its attempts. */
const SUFFIX_DIGITS = 16;

function writeSqlite(path: string, count: number, day: number, seenAt: number): void {
	const db = new DatabaseSync(path);
	try {
		db.exec("PRAGMA synchronous = OFF");
		const type = typeOf(db.prepare("SELECT code FROM event_types WHERE name = ?").get(EVENT_TYPE));
		const time = lowestSuffixAt(day).slice(0, -SUFFIX_DIGITS);
		for (let first = 1; first <= count; first += AT_ONCE) {
			const last = Math.min(count, first + AT_ONCE - 1);
			db.exec(`
				BEGIN;
				WITH RECURSIVE numbers (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last})
				INSERT INTO events (project_no, seq, id, type, type_seq, created_at, published_at, body)
				SELECT p.no, n, 'evt_${time}' || printf('%0${SUFFIX_DIGITS}d', n * 1000 + p.no), ${type}, n, ${day} + n, ${day} + n,
					zeroblob(${BODY_BYTES})
				FROM numbers CROSS JOIN projects p;
				WITH RECURSIVE numbers (n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last})
				INSERT INTO attempts (
					id, project_no, webhook_no, seq, replay, attempt, type, status, status_code, started_at, response_ms,
					response_truncated, url, sent_brand, sent_timestamp, sent_signature, response_body)
				SELECT '${time}' || printf('%0${SUFFIX_DIGITS}d', n * 100000 + w.no), w.project_no, w.no, n, 0, 1, ${type}, 1, 200,
					${day} + n, 10, 0, w.url, 'Posthorn', ${day / 1_000}, zeroblob(32), CAST('ok' AS BLOB)
				FROM numbers CROSS JOIN webhooks w;
				COMMIT;`);
		}
		db.exec(`
			UPDATE projects SET last_seq = ${count};
			UPDATE lanes SET position = ${count};
			UPDATE stats_progress SET counted_through = (SELECT max(no) FROM attempts);
			UPDATE settings SET value = '${seenAt}' WHERE name = 'clock_seen_at';
			PRAGMA wal_checkpoint(TRUNCATE);`);
	} finally {
		db.close();
	}
}

async function writePostgres(url: string, count: number, day: number, seenAt: number): Promise<void> {
	const client = new Client({ connectionString: url });
	await client.connect();
	try {
		const { rows } = await client.query("SELECT code FROM posthorn.event_types WHERE name = $1", [EVENT_TYPE]);
		const type = typeOf(rows[0]);
		await client.query("SET synchronous_commit = off");
		// One table for each day since, as a service that ran all the time has.
		for (let at = day; at < Date.now(); at += DAY_MS) {
			const table = `posthorn.attempts_${new Date(at).toISOString().slice(0, 10).replaceAll("-", "")}`;
			const { rows: there } = await client.query("SELECT to_regclass($1) AS name", [table]);
			if (there[0].name === null)
				await client.query(`CREATE TABLE ${table} PARTITION OF posthorn.attempts
					FOR VALUES FROM ('${lowestSuffixAt(at)}') TO ('${lowestSuffixAt(at + DAY_MS)}')`);
		}
		const time = lowestSuffixAt(day).slice(0, -SUFFIX_DIGITS);
		const digits = (number: string) => `lpad((${number})::text, ${SUFFIX_DIGITS}, '0')`;
		for (let first = 1; first <= count; first += AT_ONCE) {
			const numbers = `generate_series(${first}, ${Math.min(count, first + AT_ONCE - 1)}) AS n`;
			await client.query(`
				INSERT INTO posthorn.events (project_no, seq, id, type, type_seq, created_at, published_at, body)
				SELECT p.no, n, 'evt_${time}' || ${digits("n::bigint * 1000 + p.no")}, ${type}, n, ${day} + n, ${day} + n,
					decode(repeat('7a', ${BODY_BYTES}), 'hex')
				FROM ${numbers} CROSS JOIN posthorn.projects p ORDER BY n, p.no`);
			await client.query(`
				INSERT INTO posthorn.attempts (
					id, project_no, webhook_no, seq, replay, attempt, type, status, status_code, started_at, response_ms,
					response_truncated, url, sent_brand, sent_timestamp, sent_signature, response_body)
				SELECT '${time}' || ${digits("n::bigint * 100000 + w.no")}, w.project_no, w.no, n, 0, 1, ${type}, 1, 200,
					${day} + n, 10, false, w.url, 'Posthorn', ${day / 1_000}, decode(repeat('00', 32), 'hex'), 'ok'
				FROM ${numbers} CROSS JOIN posthorn.webhooks w ORDER BY n`);
		}
		await client.query(`UPDATE posthorn.logs SET last_seq = ${count}`);
		await client.query(`UPDATE posthorn.lanes SET position = ${count}`);
		await client.query(`UPDATE posthorn.settings SET value = '${seenAt}' WHERE name = 'clock_seen_at'`);
		await client.query("VACUUM (ANALYZE)");
		await client.query("CHECKPOINT");
	} finally {
		await client.end();
	}
}

function typeOf(row: unknown): number {
	if (row === undefined) throw new Error(`The database has no number for ${EVENT_TYPE} yet.`);
	return (row as { readonly code: number }).code;
}
