/**
 * How entries leave the delivery log: by whole days. A day whose end is past the cutoff first gives up its failed entries,
 * step by step, since dead letters are counted; then its table is dropped, whatever else is in it. Of the day that the
 * cutoff falls into, entries go one by one if the day has few; if it has many, they stay until it can go as a whole, a
 * day at most.
 */
import { lowestSuffixAt } from "../../base/ids.ts";
import type { SweepStep } from "../port.ts";
import { STATUS_CODE } from "../shared/attempt-codes.ts";
import type { Connections } from "./connections.ts";
import { numberArray, textArray } from "./literals.ts";
import { lockDeliveries } from "./lock.ts";
import { daysAhead, dropDay, listDays, makeDays } from "./partitions.ts";
import { sweepDeletedWebhooks } from "./retention-webhooks.ts";
import type { Session } from "./session.ts";
import { sql } from "./sql.ts";
import { moveCounts, sweepStats } from "./stats-roll-up.ts";

/** A day of so many entries is worth no deletion of single ones. */
const MANY_ENTRIES = 20_000;
const DAY_MS = 86_400_000;

const ENTRIES = "SELECT project_no, webhook_no, seq, id";
type Entry = { project_no: number; webhook_no: number; seq: number; id: string };

/** Steps of a pass: 0 is the first, and every other one goes on with what is oldest. */
const GO_ON = 1;

export async function sweepAttempts(
	connections: Connections,
	cutoff: number,
	limit: number,
	from: number,
	now: number,
): Promise<SweepStep> {
	if (from === 0) {
		await connections.transaction("people", (c) => makeDays(c, daysAhead(now)));
		await connections.transaction("people", moveCounts);
		const more = await connections.transaction("people", (c) => sweepStats(c, cutoff, now, limit));
		if (more) return { deleted: 0, next: 0, unattempted: [] };
		await connections.transaction("people", (c) => sweepDeletedWebhooks(c, cutoff, limit));
	}
	for (const { table, end } of await connections.read("people", listDays)) {
		if (end - DAY_MS >= cutoff) break;
		const deleted =
			end <= cutoff ? await sweepDay(connections, table, limit) : await thinDay(connections, table, cutoff, limit);
		if (deleted !== null) return { deleted, next: GO_ON, unattempted: [] };
	}
	return { deleted: 0, next: null, unattempted: [] };
}

/** A step in a day that goes as a whole. */
async function sweepDay(connections: Connections, table: string, limit: number): Promise<number> {
	const failed = sql(`
		${ENTRIES} FROM posthorn.${table} WHERE status = ${STATUS_CODE.failed} ORDER BY project_no, webhook_no, id LIMIT $1`);
	const deleted = await connections.transaction("people", async (c) =>
		deleteEntries(c, table, await c.rows<Entry>(failed, limit)),
	);
	if (deleted > 0) return deleted;
	const rest = await connections.read("people", (c) => countEntries(c, table));
	await connections.transaction("people", (c) => dropDay(c, table));
	return rest;
}

/** A step in a day that goes in part; null when there is nothing to do. */
async function thinDay(connections: Connections, table: string, cutoff: number, limit: number): Promise<number | null> {
	const many = await connections.read("people", async (c) => (await countEntries(c, table)) >= MANY_ENTRIES);
	if (many) return null;
	const old = sql(`${ENTRIES} FROM posthorn.${table} WHERE id < $2 ORDER BY id LIMIT $1`);
	const deleted = await connections.transaction("people", async (c) =>
		deleteEntries(c, table, await c.rows<Entry>(old, limit, lowestSuffixAt(cutoff))),
	);
	return deleted === 0 ? null : deleted;
}

/** Counted no further than where they are many. */
async function countEntries(c: Session, table: string): Promise<number> {
	const count = sql(`SELECT count(*) AS count FROM (SELECT FROM posthorn.${table} LIMIT ${MANY_ENTRIES}) AS entry`);
	return (await c.row<{ count: number }>(count))!.count;
}

/** A delivery whose last attempt leaves the log is a dead letter no more. */
const FORGET_DEAD_LETTERS = sql(`
	WITH dead AS (
		SELECT g.project_no, g.webhook_no, count(*) AS count
		FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) AS g (project_no, webhook_no, seq, id)
			CROSS JOIN LATERAL (
				SELECT a.id, a.status FROM posthorn.attempts a
				WHERE a.project_no = g.project_no AND a.seq = g.seq AND a.webhook_no = g.webhook_no
				ORDER BY a.replay DESC, a.attempt DESC LIMIT 1
			) newest
			LEFT JOIN LATERAL (
				SELECT r.seq FROM posthorn.retries r
				WHERE r.project_no = g.project_no AND r.seq = g.seq AND r.webhook_no = g.webhook_no LIMIT 1
			) waiting ON true
		WHERE newest.id = g.id AND newest.status = ${STATUS_CODE.failed} AND waiting.seq IS NULL
		GROUP BY g.project_no, g.webhook_no
	)
	UPDATE posthorn.lanes l SET dead_letters = greatest(0, l.dead_letters - dead.count)
	FROM dead WHERE l.project_no = dead.project_no AND l.webhook_no = dead.webhook_no`);

/** Deletes entries of a day; answers how many. */
async function deleteEntries(c: Session, table: string, rows: readonly Entry[]): Promise<number> {
	if (rows.length === 0) return 0;
	await lockDeliveries(c, [...new Set(rows.map((row) => row.project_no))]);
	const keys = [
		numberArray(rows.map((row) => row.project_no)),
		numberArray(rows.map((row) => row.webhook_no)),
		numberArray(rows.map((row) => row.seq)),
		textArray(rows.map((row) => row.id)),
	];
	const remove = sql(`
		DELETE FROM posthorn.${table} WHERE ctid = ANY (ARRAY(
			SELECT old.ctid
			FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) AS g (project_no, webhook_no, seq, id)
			CROSS JOIN LATERAL (
				SELECT a.ctid FROM posthorn.${table} a
				WHERE a.project_no = g.project_no AND a.seq = g.seq AND a.webhook_no = g.webhook_no AND a.id = g.id
				ORDER BY a.replay, a.attempt LIMIT 1
			) old
		))`);
	const [, deleted] = await Promise.all([c.run(FORGET_DEAD_LETTERS, ...keys), c.run(remove, ...keys)]);
	return deleted;
}
