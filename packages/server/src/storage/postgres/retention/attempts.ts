/**
 * Attempts are deleted by whole days. From a day that ended before the cutoff, failed attempts are deleted step by
 * step, because dead letters are counted; then its table is dropped with everything else. From the day of the cutoff,
 * attempts are deleted one by one. They are roughly in the order in which they were written, so each pass starts where
 * the table isn't empty yet and continues as long as it finds old ones.
 */
import { lowestSuffixAt } from "../../../base/ids.ts";
import type { Params, SweepStep } from "../../port.ts";
import { STATUS_CODE } from "../../shared/deliveries.ts";
import type { Connections } from "../connection/connections.ts";
import { isTableMissing } from "../connection/errors.ts";
import { numberArray, textArray } from "../connection/literals.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";
import { moveCounts, sweepStats } from "../history/stats.ts";
import { holdLanes, lockDeliveries } from "../lanes/locks.ts";
import { daysAhead, dropDay, listDays, makeDays } from "./partitions.ts";
import { sweepDeletedWebhooks } from "./webhooks.ts";

/** The remaining attempts of a deleted day aren't counted beyond this. */
const MOST_COUNTED = 20_000;
const DAY_MS = 86_400_000;
/** Blocks of a table (8 kB each) scanned in one step: more than the distance between attempts written together. */
const WINDOW = 1_024;

const ENTRIES = "SELECT project_no, webhook_no, seq, id";
type Entry = { project_no: number; webhook_no: number; seq: number; id: string };

/**
 * Steps of a pass: 0 is the first, GO_ON continues with the oldest day, and AT_BLOCK plus a number continues at that
 * block of its table.
 */
const GO_ON = 1;
const AT_BLOCK = 2;

export class AttemptSweep {
	/** Projects whose rows another session held in this pass: their attempts stay until the next one. */
	readonly #locked = new Set<number>();
	/** The day that was partly deleted last time, and the block before which its table was empty. */
	#thinned = { table: "", block: 0 };

	async step(
		connections: Connections,
		{ cutoff, limit, from }: Params<"sweepAttempts">,
		now: number,
	): Promise<SweepStep> {
		if (from === 0) this.#locked.clear();
		if (from === 0 && (await prepare(connections, cutoff, limit, now))) return { deleted: 0, next: 0, unattempted: [] };
		const [oldest] = await connections.read("people", listDays);
		if (oldest === undefined || oldest.end - DAY_MS >= cutoff) return { deleted: 0, next: null, unattempted: [] };
		const { table, end } = oldest;
		try {
			if (end <= cutoff) {
				const deleted = await sweepDay(connections, table, limit, this.#locked);
				return { deleted: deleted ?? 0, next: deleted === null ? null : GO_ON, unattempted: [] };
			}
			const block = from >= AT_BLOCK ? from - AT_BLOCK : this.#blockOf(table);
			return await this.#thin(connections, table, cutoff, limit, block);
		} catch (error) {
			// Another node has dropped it meanwhile.
			if (isTableMissing(error)) return { deleted: 0, next: GO_ON, unattempted: [] };
			throw error;
		}
	}

	#blockOf(table: string): number {
		if (this.#thinned.table !== table) this.#thinned = { table, block: 0 };
		return this.#thinned.block;
	}

	/** A step in a day that is partly deleted. */
	async #thin(
		connections: Connections,
		table: string,
		cutoff: number,
		limit: number,
		block: number,
	): Promise<SweepStep> {
		const window = [`(${block},0)`, `(${block + WINDOW},0)`];
		const old = sql(`${ENTRIES} FROM posthorn.${table} WHERE ctid >= $1::tid AND ctid < $2::tid AND id < $3
			AND NOT project_no = ANY ($5::bigint[]) LIMIT $4`);
		const { found, deleted } = await connections.transaction("people", async (c) =>
			deleteEntries(
				c,
				table,
				await c.rows<Entry>(old, ...window, lowestSuffixAt(cutoff), limit, numberArray([...this.#locked])),
				this.#locked,
			),
		);
		if (found === limit) return { deleted, next: AT_BLOCK + block, unattempted: [] };
		const next = { deleted, next: AT_BLOCK + block + WINDOW, unattempted: [] };
		if (found > 0) return next;
		const left = sql(`
			SELECT EXISTS (SELECT FROM posthorn.${table} WHERE ctid >= $1::tid AND ctid < $2::tid) AS entries,
				pg_relation_size('posthorn.${table}') / current_setting('block_size')::integer > $3 AS blocks`);
		const is = await connections.read("people", (c) =>
			c.row<{ entries: boolean; blocks: boolean }>(left, ...window, block + WINDOW),
		);
		if (is!.entries || !is!.blocks) return { deleted, next: null, unattempted: [] };
		if (this.#blockOf(table) === block) this.#thinned.block += WINDOW;
		return next;
	}
}

/** Work before the first step. Returns whether more of it is left. */
async function prepare(connections: Connections, cutoff: number, limit: number, now: number): Promise<boolean> {
	await connections.transaction("people", (c) => makeDays(c, daysAhead(now)));
	await connections.transaction("people", moveCounts);
	if (await connections.transaction("people", (c) => sweepStats(c, cutoff, now, limit))) return true;
	await connections.transaction("people", (c) => sweepDeletedWebhooks(c, cutoff, limit));
	return false;
}

/** A step in a day that is deleted whole; null if it has to stay because other rows of it are locked. */
async function sweepDay(
	connections: Connections,
	table: string,
	limit: number,
	locked: Set<number>,
): Promise<number | null> {
	const failed = sql(`
		${ENTRIES} FROM posthorn.${table} WHERE status = ${STATUS_CODE.failed} AND NOT project_no = ANY ($2::bigint[])
		ORDER BY project_no, webhook_no, id LIMIT $1`);
	const { found, deleted } = await connections.transaction("people", async (c) =>
		deleteEntries(c, table, await c.rows<Entry>(failed, limit, numberArray([...locked])), locked),
	);
	if (found > 0) return deleted;
	if (locked.size > 0) return null;
	const rest = await connections.read("people", (c) => countEntries(c, table));
	await connections.transaction("people", (c) => dropDay(c, table));
	return rest;
}

async function countEntries(c: Session, table: string): Promise<number> {
	const count = sql(`SELECT count(*) AS count FROM (SELECT FROM posthorn.${table} LIMIT ${MOST_COUNTED}) AS entry`);
	return (await c.row<{ count: number }>(count))!.count;
}

/** Without its last attempt in the log, a delivery is no longer a dead letter. */
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
				-- As a range with its order, so that the primary key is taken without statistics, too.
				SELECT r.seq FROM posthorn.retries r
				WHERE r.project_no = g.project_no AND (r.seq, r.webhook_no) BETWEEN (g.seq, g.webhook_no) AND (g.seq, g.webhook_no)
				ORDER BY r.seq, r.webhook_no LIMIT 1
			) waiting ON true
		WHERE newest.id = g.id AND newest.status = ${STATUS_CODE.failed} AND waiting.seq IS NULL
		GROUP BY g.project_no, g.webhook_no
	)
	UPDATE posthorn.lanes l SET dead_letters = greatest(0, l.dead_letters - dead.count)
	FROM dead WHERE l.project_no = dead.project_no AND l.webhook_no = dead.webhook_no`);

/**
 * Deletes found attempts of a day; another node may have deleted some of them meanwhile. Attempts of projects whose
 * rows another session holds stay, and the projects are added to `locked`.
 */
async function deleteEntries(
	c: Session,
	table: string,
	all: readonly Entry[],
	locked: Set<number>,
): Promise<{ readonly found: number; readonly deleted: number }> {
	const projects = new Set(all.map((row) => row.project_no));
	const held = await lockDeliveries(c, [...projects]);
	// Only for projects that are locked by this node: two nodes that each locked what the other needs would both leave the
	// project for later.
	const webhooks = all
		.filter(({ project_no }) => held.has(project_no))
		.map(({ project_no, webhook_no }) => ({ projectNo: project_no, webhookNo: webhook_no }));
	const occupied = await holdLanes(c, webhooks);
	const rows = all.filter(({ project_no }) => held.has(project_no) && !occupied.has(project_no));
	for (const projectNo of projects) if (!held.has(projectNo) || occupied.has(projectNo)) locked.add(projectNo);
	if (rows.length === 0) return { found: all.length, deleted: 0 };
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
	return { found: all.length, deleted };
}
