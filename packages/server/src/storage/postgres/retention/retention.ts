/**
 * Attempts are deleted by whole days: once a day ended before the cutoff, its failed attempts are deleted step by step,
 * because dead letters are counted, and then its table is dropped with everything else. Events follow them: those of
 * days that ended before the cutoff are deleted in ranges of their order.
 */
import { RETENTION } from "../../../base/budgets.ts";
import { type EventSweepStep, isStorageError, type Params, type SweepStep } from "../../port.ts";
import { withinBytes } from "../../shared/bodies.ts";
import { QUEUE_CODE, QUEUES, STATUS_CODE } from "../../shared/deliveries.ts";
import type { Connections } from "../connection/connections.ts";
import { isTableMissing } from "../connection/errors.ts";
import { numberArray, numberColumns, type Session, sql, textArray } from "../connection/session.ts";
import { moveCounts, sweepStats } from "../history/stats.ts";
import { FIRST_AHEAD, pendingRetry } from "../lanes/lanes.ts";
import { holdLanes, lockDeliveries, wakeForChange } from "../lanes/locks.ts";
import { holdLogs } from "../log/append.ts";
import { numbered } from "../log/log.ts";
import { beginningOfDay, daysAhead, dropDay, listDays, makeDays } from "./partitions.ts";

/** The remaining attempts of a deleted day aren't counted beyond this. */
const MOST_COUNTED = 20_000;
/** Failed attempts deleted in one step, which holds their projects' deliveries. */
const MOST_HELD = 500;

const ENTRIES = "SELECT project_no, webhook_no, seq, id";
type Entry = { project_no: number; webhook_no: number; seq: number; id: string };

/** Where a pass continues after its first step, which is 0. */
const LATER_STEP = 1;

export class AttemptSweep {
	/** Projects whose rows another session held in this pass: their attempts stay until the next one. */
	readonly #locked = new Set<number>();

	async step(
		connections: Connections,
		{ cutoff, limit, from, now }: Params<"sweepAttempts">,
		clock: number,
	): Promise<SweepStep> {
		if (from === 0) {
			this.#locked.clear();
			// Attempts are logged by this clock's day, even while the clock isn't trusted.
			await unlessDiskFull(connections, (c) => makeDays(c, daysAhead(clock)));
			if (await prepare(connections, cutoff, limit, now ?? clock)) return { deleted: 0, next: 0 };
		}
		const [oldest] = await connections.read("people", listDays);
		if (oldest === undefined || oldest.end > cutoff) return { deleted: 0, next: null };
		try {
			const deleted = await sweepDay(connections, oldest.table, Math.min(limit, MOST_HELD), this.#locked);
			return { deleted: deleted ?? 0, next: deleted === null ? null : LATER_STEP };
		} catch (error) {
			if (!isTableMissing(error)) throw error;
			const [next] = await connections.read("people", listDays);
			// Another table is missing. Otherwise, another node has dropped the day meanwhile.
			if (next?.table === oldest.table) throw error;
			return { deleted: 0, next: LATER_STEP };
		}
	}
}

/** Work before the first step. Returns whether more of it is left. */
async function prepare(connections: Connections, cutoff: number, limit: number, now: number): Promise<boolean> {
	await unlessDiskFull(connections, moveCounts);
	if (await unlessDiskFull(connections, (c) => sweepStats(c, cutoff, now, limit))) return true;
	await unlessDiskFull(connections, (c) => sweepDeletedWebhooks(c, cutoff, limit));
	return false;
}

/** Warns and returns null if the disk is full: the next pass tries again, and dropping a day in this one may free space. */
async function unlessDiskFull<T>(connections: Connections, work: (c: Session) => Promise<T>): Promise<T | null> {
	try {
		return await connections.transaction("people", work);
	} catch (error) {
		if (!isStorageError(error) || error.code !== "full") throw error;
		process.emitWarning(`Retention left some of its work to the next pass: ${error.message}`);
		return null;
	}
}

/** A step in the deletion of a day; null if it has to stay because other rows of it are locked. */
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
				SELECT seq FROM posthorn.retries ${pendingRetry("g.project_no", "g.seq", "g.webhook_no")}
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
	const occupied = await holdLanes(c, webhooks, false);
	const rows = all.filter(({ project_no }) => held.has(project_no) && !occupied.has(project_no));
	for (const projectNo of projects) if (!held.has(projectNo) || occupied.has(projectNo)) locked.add(projectNo);
	if (rows.length === 0) return { found: all.length, deleted: 0 };
	const keys = [...numberColumns(rows, "project_no", "webhook_no", "seq"), textArray(rows.map((row) => row.id))];
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
	SELECT ctid::text AS place, no, project_no, seq, type, published_at, octet_length(body) AS bytes
	FROM posthorn.events WHERE no >= $1 ORDER BY no LIMIT $2`);

/** For each type that lanes want, the `seq` after which some lane waits for its events. */
const WANTED = sql(`
	SELECT l.project_no, s.type, min(greatest(s.from_seq, l.position)) AS after
	FROM posthorn.lanes l
		JOIN posthorn.subscriptions s ON s.project_no = l.project_no AND s.webhook_no = l.webhook_no
	WHERE l.project_no = ANY ($1::bigint[])
	GROUP BY l.project_no, s.type`);

/** Events that a lane started and hasn't settled, whether or not it still wants their types. */
const OPEN = sql(`
	SELECT project_no, unnest(open) AS seq FROM posthorn.lanes
	WHERE project_no = ANY ($1::bigint[]) AND open <> '{}'`);

/** Those of these spans of projects' logs in which an attempt or a retry refers to some event, by their positions. */
const REFERRED_SPANS = sql(`
	SELECT g.place::integer
	FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS g (project_no, first, last, place)
		LEFT JOIN LATERAL (
			SELECT a.seq FROM posthorn.attempts a WHERE a.project_no = g.project_no AND a.seq BETWEEN g.first AND g.last
			-- The order of the primary key: no other index has it.
			ORDER BY a.seq, a.webhook_no, a.replay, a.attempt, a.id LIMIT 1
		) logged ON true
		LEFT JOIN LATERAL (
			SELECT r.seq FROM posthorn.retries r WHERE r.project_no = g.project_no AND r.seq BETWEEN g.first AND g.last
			ORDER BY r.seq, r.webhook_no LIMIT 1
		) waiting ON true
	WHERE logged.seq IS NOT NULL OR waiting.seq IS NOT NULL`);

/** Those of these events that an attempt or a retry refers to. */
const REFERRED = sql(`
	SELECT g.project_no, g.seq
	FROM unnest($1::bigint[], $2::bigint[]) AS g (project_no, seq)
		LEFT JOIN LATERAL (
			SELECT a.seq FROM posthorn.attempts a WHERE a.project_no = g.project_no AND a.seq = g.seq
			ORDER BY a.webhook_no, a.replay, a.attempt, a.id LIMIT 1
		) logged ON true
		LEFT JOIN LATERAL (
			SELECT r.seq FROM posthorn.retries r WHERE r.project_no = g.project_no AND r.seq = g.seq
			ORDER BY r.webhook_no LIMIT 1
		) waiting ON true
	WHERE logged.seq IS NOT NULL OR waiting.seq IS NOT NULL`);

const DELETE_EVENTS = sql("DELETE FROM posthorn.events WHERE ctid = ANY ($1::tid[])");

/**
 * Events are in the order in which they were appended, so a pass ends at the first that is recent enough.
 *
 * Locks no project. Everything is read from one state of the database, and an event that is unneeded in one state
 * isn't needed later either: lanes only move forward, a settle moves deliveries on in one transaction, and a replay needs
 * an attempt in the log. The exception is an attempt in flight whose webhook was deleted: settling it updates the event, so
 * this transaction fails and runs again.
 */
export async function sweepEvents(
	connections: Connections,
	{ cutoff, limit, from, latest = Number.POSITIVE_INFINITY }: Params<"sweepEvents">,
): Promise<EventSweepStep> {
	const unattempted = from === 0 ? await wakeLate(connections, cutoff) : [];
	const day = beginningOfDay(cutoff);
	return connections.frozen("people", async (c) => {
		const found = await c.rows<EventRow>(NEXT, from, limit);
		const rows = withinBytes(found, RETENTION.bytesPerStep, ({ bytes }) => bytes);
		const last = rows.at(-1);
		if (last === undefined) return { deleted: 0, next: null, unattempted };
		const unneeded = await unneededOf(
			c,
			rows.filter((row) => row.published_at < day),
		);
		const deleting = unneeded.length === 0 ? 0 : c.run(DELETE_EVENTS, textArray(unneeded.map(({ place }) => place)));
		const [deleted] = await Promise.all([deleting, c.commit()]);
		const isRecent = (at: number): boolean => at >= day && at <= latest;
		const over = (rows.length === found.length && rows.length < limit) || isRecent(last.published_at);
		return { deleted, next: over ? null : last.no + 1, unattempted };
	});
}

type EventRow = {
	readonly place: string;
	readonly no: number;
	readonly project_no: number;
	readonly seq: number;
	readonly type: number;
	readonly published_at: number;
	readonly bytes: number;
};

/** Those of these events that no lane has yet to attempt, and that no attempt or retry refers to. */
async function unneededOf(c: Session, old: readonly EventRow[]): Promise<readonly EventRow[]> {
	if (old.length === 0) return [];
	const projects = numberArray([...new Set(old.map((row) => row.project_no))]);
	const spans = spansOf(old);
	const [wanted, open, referred] = await Promise.all([
		c.rows<{ project_no: number; type: number; after: number }>(WANTED, projects),
		c.rows<{ project_no: number; seq: number }>(OPEN, projects),
		c.rows<{ place: number }>(REFERRED_SPANS, ...numberColumns(spans, "projectNo", "first", "last")),
	]);
	const suspects = referred.flatMap(({ place }) => spans[place - 1]!.events);
	const needed = new Set(open.map(keyOf));
	if (suspects.length > 0) {
		const columns = numberColumns(suspects, "project_no", "seq");
		const found = await c.rows<{ project_no: number; seq: number }>(REFERRED, ...columns);
		for (const row of found) needed.add(keyOf(row));
	}
	const after = new Map(wanted.map((row) => [`${row.project_no}/${row.type}`, row.after]));
	const waits = ({ project_no, type, seq }: EventRow): boolean =>
		seq > 0 && seq > (after.get(`${project_no}/${type}`) ?? Number.POSITIVE_INFINITY);
	return old.filter((row) => !needed.has(keyOf(row)) && !waits(row));
}

const keyOf = ({ project_no, seq }: { readonly project_no: number; readonly seq: number }) => `${project_no}/${seq}`;

/** Events of a project, and the part of its log that they are in. */
interface Span {
	readonly projectNo: number;
	readonly first: number;
	readonly last: number;
	readonly events: readonly EventRow[];
}

/** One for each project, and another one for its test events. */
function spansOf(events: readonly EventRow[]): Span[] {
	return [...Map.groupBy(events, ({ project_no, seq }) => `${project_no}/${seq > 0}`).values()].map((events) => {
		const seqs = events.map(({ seq }) => seq);
		return { projectNo: events[0]!.project_no, first: Math.min(...seqs), last: Math.max(...seqs), events };
	});
}

/** Lanes examined in one statement, so that each statement is short. */
const LANES_AT_ONCE = 200;

/**
 * Lanes in the order of their numbers, from the one after `$1` and `$2`, and whether something waits in them since
 * before `$3`.
 */
const LATE = sql(`
	SELECT lane.project_no, lane.webhook_no, coalesce(waits.since < $3, false) AS late
	FROM (
		SELECT * FROM posthorn.lanes WHERE (project_no, webhook_no) > ($1, $2) ORDER BY project_no, webhook_no
		LIMIT ${LANES_AT_ONCE}
	) lane CROSS JOIN LATERAL (
		SELECT min(wait.since) AS since FROM (
			SELECT e.published_at AS since
			FROM posthorn.subscriptions s CROSS JOIN LATERAL (
				SELECT published_at FROM posthorn.events ${FIRST_AHEAD} LIMIT 1
			) e
			WHERE s.project_no = lane.project_no AND s.webhook_no = lane.webhook_no
			UNION ALL
			SELECT e.published_at
			FROM unnest(lane.open) AS open (seq) CROSS JOIN LATERAL (
				SELECT published_at FROM posthorn.events ${numbered("lane.project_no", "open.seq")}
			) e
			UNION ALL
			SELECT r.due_at
			FROM unnest('{${QUEUES.map((queue) => QUEUE_CODE[queue]).join()}}'::smallint[]) AS queue (code) CROSS JOIN LATERAL (
				SELECT due_at FROM posthorn.retries
				WHERE project_no = lane.project_no AND webhook_no = lane.webhook_no AND queue = queue.code
				ORDER BY due_at, seq LIMIT 1
			) r
		) wait
	) waits
	ORDER BY lane.project_no, lane.webhook_no`);

const IDS = sql("SELECT id FROM posthorn.projects WHERE no = ANY ($1::bigint[])");

/**
 * Sets the alarm of projects with lanes in which an event has waited since before `cutoff`, or a next attempt has been
 * due, because a webhook is paused. Those that another session holds are left to the next pass. Returns their ids.
 */
async function wakeLate(connections: Connections, cutoff: number): Promise<string[]> {
	const woken: string[] = [];
	let after: readonly [project: number, webhook: number] = [0, 0];
	for (;;) {
		const lanes = await connections.read("people", (c) =>
			c.rows<{ project_no: number; webhook_no: number; late: boolean }>(LATE, ...after, cutoff),
		);
		const late = new Set(lanes.filter(({ late }) => late).map(({ project_no }) => project_no));
		if (late.size > 0) woken.push(...(await connections.transaction("people", (c) => wake(c, late))));
		const last = lanes.at(-1);
		if (last === undefined || lanes.length < LANES_AT_ONCE) return [...new Set(woken)];
		after = [last.project_no, last.webhook_no];
	}
}

async function wake(c: Session, projectNos: ReadonlySet<number>): Promise<string[]> {
	// Locked in this order by every transaction that needs both.
	const [logs, deliveries] = await Promise.all([holdLogs(c, projectNos), lockDeliveries(c, [...projectNos])]);
	const held = [...logs.intersection(deliveries)];
	const [ids] = await Promise.all([c.rows<{ id: string }>(IDS, numberArray(held)), wakeForChange(c, ...held)]);
	return ids.map(({ id }) => id);
}

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

/** Deletes the rest of webhooks deleted long ago: retries that couldn't be closed, and finally the row. */
async function sweepDeletedWebhooks(c: Session, cutoff: number, limit: number): Promise<void> {
	const left = await c.row<{ project_no: number; no: number }>(WITH_RETRIES, cutoff);
	if (left !== undefined) {
		const held = await lockDeliveries(c, [left.project_no]);
		if (held.size > 0) await c.run(DELETE_RETRIES, left.project_no, left.no, limit);
	}
	await c.run(DELETE_WEBHOOKS, cutoff, limit);
}
