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
import { numberArray, type Row, type Session, sql, textArray } from "../connection/session.ts";
import { moveCounts, sweepStats } from "../history/stats.ts";
import { holdLanes, lockDeliveries } from "../lanes/locks.ts";
import { holdLogs } from "../log/append-rows.ts";
import { daysAhead, dropDay, listDays, makeDays } from "./partitions.ts";

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
				SELECT a.id, a.status, a.dismissed_at FROM posthorn.attempts a
				WHERE a.project_no = g.project_no AND a.seq = g.seq AND a.webhook_no = g.webhook_no
				ORDER BY a.replay DESC, a.attempt DESC LIMIT 1
			) newest
			LEFT JOIN LATERAL (
				-- As a range with its order, so that the primary key is taken without statistics, too.
				SELECT r.seq FROM posthorn.retries r
				WHERE r.project_no = g.project_no AND (r.seq, r.webhook_no) BETWEEN (g.seq, g.webhook_no) AND (g.seq, g.webhook_no)
				ORDER BY r.seq, r.webhook_no LIMIT 1
			) waiting ON true
		WHERE g.seq > 0 AND newest.id = g.id AND newest.status = ${STATUS_CODE.failed}
			AND newest.dismissed_at IS NULL AND waiting.seq IS NULL
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

const NEXT = sql(`
	SELECT e.no, e.project_no, p.id AS project_id, e.seq, e.type, e.published_at
	FROM (SELECT * FROM posthorn.events WHERE no >= $1 ORDER BY no LIMIT $2) e
		JOIN posthorn.projects p ON p.no = e.project_no
	ORDER BY e.no`);

const LANES = sql(`
	SELECT l.project_no, s.type, s.from_seq, l.position
	FROM posthorn.lanes l
		JOIN posthorn.subscriptions s ON s.project_no = l.project_no AND s.webhook_no = l.webhook_no
	WHERE l.project_no = ANY ($1::bigint[])`);

/** Events that a lane started and hasn't settled, whether or not it still wants their types. */
const OPEN = sql(`
	SELECT project_no, unnest(open) AS seq FROM posthorn.lanes
	WHERE project_no = ANY ($1::bigint[]) AND open <> '{}'`);

const DELETE_EVENTS = sql(`
	DELETE FROM posthorn.events WHERE ctid = ANY (ARRAY(
		SELECT old.ctid
		FROM unnest($1::bigint[], $2::bigint[]) AS g (project_no, seq)
			CROSS JOIN LATERAL (
				SELECT e.ctid FROM posthorn.events e WHERE e.project_no = g.project_no AND e.seq = g.seq LIMIT 1
			) old
			LEFT JOIN LATERAL (
				SELECT a.seq FROM posthorn.attempts a WHERE a.project_no = g.project_no AND a.seq = g.seq
				-- The order of the primary key: no other index has it.
				ORDER BY a.webhook_no, a.replay, a.attempt, a.id LIMIT 1
			) logged ON true
			LEFT JOIN LATERAL (
				SELECT r.seq FROM posthorn.retries r WHERE r.project_no = g.project_no AND r.seq = g.seq
				ORDER BY r.webhook_no LIMIT 1
			) waiting ON true
		WHERE logged.seq IS NULL AND waiting.seq IS NULL
	))`);

/**
 * Those of these projects in which a next attempt has been due for longer than the log is kept, because its webhook is
 * paused.
 */
const OVERDUE = sql(`
	SELECT DISTINCT g.project_no
	FROM unnest($1::bigint[], $2::bigint[]) AS g (project_no, seq)
		CROSS JOIN LATERAL (
			SELECT r.due_at FROM posthorn.retries r WHERE r.project_no = g.project_no AND r.seq = g.seq
			-- The order of the primary key: no other index has it.
			ORDER BY r.webhook_no OFFSET 0
		) waiting
	WHERE waiting.due_at < $3`);

const REVISE = sql("UPDATE posthorn.logs SET revision = revision + 1 WHERE project_no = ANY ($1::bigint[])");
const RING = sql("UPDATE posthorn.leases SET wake_at = 0 WHERE project_no = ANY ($1::bigint[]) AND until IS NULL");

/**
 * In a transaction. Events are in the order in which they were appended, so a pass ends at the first that is recent
 * enough.
 */
export async function sweepEvents(
	c: Session,
	{ cutoff, limit, from, latest = Number.POSITIVE_INFINITY }: Params<"sweepEvents">,
): Promise<SweepStep> {
	const rows = await c.rows(NEXT, from, limit);
	const old = rows.filter((row) => (row.published_at as number) < cutoff);
	const { deleted, unattempted } = old.length === 0 ? NOTHING : await deleteUnneeded(c, old, cutoff);
	const last = rows.at(-1);
	const isRecent = (at: number): boolean => at >= cutoff && at <= latest;
	const over = rows.length < limit || last === undefined || isRecent(last.published_at as number);
	return { deleted, next: over ? null : (last.no as number) + 1, unattempted };
}

const NOTHING: { deleted: number; unattempted: string[] } = { deleted: 0, unattempted: [] };

/** Deletes these events if they are no longer needed, and sets the alarm where one wasn't attempted. */
async function deleteUnneeded(c: Session, all: readonly Row[], cutoff: number): Promise<typeof NOTHING> {
	const named = new Set(all.map((row) => row.project_no as number));
	// Locked in this order by every transaction that needs both. Rows that another session holds are left to the next
	// pass.
	const [logs, deliveries] = await Promise.all([holdLogs(c, named), lockDeliveries(c, [...named])]);
	const held = logs.intersection(deliveries);
	const old = all.filter((row) => held.has(row.project_no as number));
	if (old.length === 0) return NOTHING;
	const projects = numberArray([...held]);
	const columns = [
		numberArray(old.map((row) => row.project_no as number)),
		numberArray(old.map((row) => row.seq as number)),
	];
	const [lanes, open, overdue] = await Promise.all([
		c.rows<Wanted>(LANES, projects),
		c.rows<{ project_no: number; seq: number }>(OPEN, projects),
		c.rows<{ project_no: number }>(OVERDUE, ...columns, cutoff),
	]);
	const late = new Set(overdue.map(({ project_no }) => project_no));
	const wanted = Map.groupBy(lanes, ({ project_no, type }) => `${project_no}/${type}`);
	const opened = new Set(open.map(({ project_no, seq }) => `${project_no}/${seq}`));
	const isOpen = (project: unknown, seq: unknown): boolean => opened.has(`${project}/${seq}`);
	const unattempted = new Set(
		old.filter(({ project_no, type, seq }) => {
			if (isOpen(project_no, seq)) return true;
			return wanted.get(`${project_no}/${type}`)?.some((lane) => waitsIn(lane, seq as number));
		}),
	);
	const unneeded = old.filter((row) => !unattempted.has(row));
	const waiting = old.filter((row) => unattempted.has(row) || late.has(row.project_no as number));
	for (const row of waiting) c.changed.add(row.project_no as number);
	const silent = numberArray([...new Set(waiting.map((row) => row.project_no as number))]);
	const [deleted] = await Promise.all([
		c.run(
			DELETE_EVENTS,
			numberArray(unneeded.map((row) => row.project_no as number)),
			numberArray(unneeded.map((row) => row.seq as number)),
		),
		...(waiting.length > 0 ? [c.run(REVISE, silent), c.run(RING, silent)] : []),
	]);
	return { deleted, unattempted: [...new Set(waiting.map((row) => row.project_id as string))] };
}

/** What a lane has yet to reach of a type. */
type Wanted = { project_no: number; type: number; from_seq: number; position: number };

const waitsIn = ({ from_seq, position }: Wanted, seq: number): boolean => seq > 0 && seq > from_seq && seq > position;

/** In the order of the index of a webhook's queues: no other one has it. */
const WAITING = `
	SELECT r.seq FROM posthorn.retries r WHERE r.project_no = w.project_no AND r.webhook_no = w.no
	ORDER BY r.queue, r.due_at, r.seq LIMIT 1`;

const WITH_RETRIES = sql(`
	SELECT w.project_no, w.no
	FROM posthorn.webhooks w CROSS JOIN LATERAL (${WAITING}) waiting
	WHERE w.deleted_at < $1 LIMIT 1`);

const DELETE_WEBHOOKS = sql(`
	DELETE FROM posthorn.webhooks WHERE (project_no, no) IN (
		SELECT w.project_no, w.no
		FROM posthorn.webhooks w
			LEFT JOIN LATERAL (
				SELECT a.seq FROM posthorn.attempts a WHERE a.project_no = w.project_no AND a.webhook_no = w.no
				ORDER BY a.status, a.type, a.id LIMIT 1
			) logged ON true
			LEFT JOIN LATERAL (${WAITING}) waiting ON true
		WHERE w.deleted_at < $1 AND logged.seq IS NULL AND waiting.seq IS NULL
		LIMIT $2 FOR UPDATE OF w SKIP LOCKED
	)`);

const DELETE_RETRIES = sql(`
	DELETE FROM posthorn.retries WHERE ctid = ANY (ARRAY(
		SELECT ctid FROM posthorn.retries WHERE project_no = $1 AND webhook_no = $2 ORDER BY queue, due_at, seq LIMIT $3
	))`);

/**
 * Deletes up to `limit` pending attempts of a webhook, for a caller that holds the project's deliveries. Returns how
 * many.
 */
function deleteRetries(c: Session, projectNo: number, webhookNo: number, limit: number): Promise<number> {
	return c.run(DELETE_RETRIES, projectNo, webhookNo, limit);
}

/** Deletes the rest of webhooks deleted long ago: retries that couldn't be closed, and finally the row. */
async function sweepDeletedWebhooks(c: Session, cutoff: number, limit: number): Promise<void> {
	const left = await c.row<{ project_no: number; no: number }>(WITH_RETRIES, cutoff);
	if (left !== undefined) {
		const held = await lockDeliveries(c, [left.project_no]);
		if (held.size > 0) await deleteRetries(c, left.project_no, left.no, limit);
	}
	await c.run(DELETE_WEBHOOKS, cutoff, limit);
}
