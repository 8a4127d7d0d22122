import type { AppendRequest } from "../../port.ts";
import { numberArray, numberColumns, pack, type Session, sql, textArray } from "../connection/session.ts";
import { lastOfType } from "./log.ts";

/** An event on its way into its project's log. */
export interface NewRow {
	readonly projectNo: number;
	readonly id: string;
	readonly type: number;
	readonly createdAt: number;
	readonly publishedAt: number;
	readonly body: Uint8Array;
}

/** A request with its project's number and its events. */
export interface Resolved {
	readonly request: AppendRequest;
	readonly projectNo: number;
	readonly rows: readonly NewRow[];
}

/** Where a transaction stores the numbers of the projects whose logs it holds, for statements sent without waiting. */
const HELD = "posthorn.held_logs";
const KEEP = (rows: string) => `
	SELECT set_config('${HELD}', coalesce(array_agg(held.project_no), '{}')::text, true) AS held FROM (${rows}) held`;

const HOLD_FREE = sql(
	KEEP(`
		SELECT project_no FROM posthorn.logs WHERE project_no = ANY ($1::bigint[])
		ORDER BY project_no FOR NO KEY UPDATE SKIP LOCKED`),
);
const HOLD_ALL = sql(
	KEEP(`
		SELECT project_no FROM posthorn.logs WHERE project_no = ANY ($1::bigint[]) ORDER BY project_no FOR NO KEY UPDATE`),
);

/**
 * Locks the logs that no other session holds until the transaction ends, without waiting unless `waits`. {@link
 * appendRows} appends only to these, even if it was sent before this returns.
 *
 * @returns the projects whose logs are held
 */
export async function holdLogs(c: Session, projectNos: Iterable<number>, waits = false): Promise<Set<number>> {
	const row = await c.row<{ held: string }>(waits ? HOLD_ALL : HOLD_FREE, numberArray([...projectNos]));
	return new Set(row!.held.slice(1, -1).split(",").filter(Boolean).map(Number));
}

/** Free leases whose alarm must be set. */
const ALARM = `
	SELECT project_no FROM posthorn.leases
	WHERE project_no = ANY (current_setting('${HELD}', true)::bigint[]) AND until IS NULL AND wake_at IS DISTINCT FROM 0
	ORDER BY project_no FOR NO KEY UPDATE`;

/**
 * Appends events to the held logs, numbers them from each log's end, and sets the alarms of free leases. A project gets
 * none of its events if one of their ids exists already: it's returned without an end.
 *
 * @param alarm locks the leases whose alarm to set
 * @param ready the projects to append to
 */
const append = (alarm: string, ready: string) => `
	WITH alarm AS MATERIALIZED (${alarm}), ready AS MATERIALIZED (${ready}), given AS MATERIALIZED (
		SELECT * FROM unnest(
			$1::bigint[], $2::bigint[], $3::text[], $4::integer[], $5::bigint[], $6::bigint[], $7::bigint[], $8::integer[],
			$9::integer[]
		) AS g (project_no, place, id, type, type_place, created_at, published_at, start, length)
		WHERE project_no IN (SELECT project_no FROM ready)
	), known AS MATERIALIZED (
		SELECT DISTINCT g.project_no
		FROM given g CROSS JOIN LATERAL (
			SELECT 1 FROM posthorn.events e WHERE e.project_no = g.project_no AND e.id = g.id LIMIT 1
		) there
	), log_end AS (
		UPDATE posthorn.logs l SET last_seq = l.last_seq + new.count
		FROM (SELECT project_no, count(*) AS count FROM given GROUP BY project_no) new
		WHERE l.project_no = new.project_no AND l.project_no NOT IN (SELECT project_no FROM known)
		RETURNING l.project_no, l.last_seq - new.count AS before
	), type_end AS MATERIALIZED (
		SELECT kind.project_no, kind.type, coalesce(last.type_seq, 0) AS before
		FROM (SELECT DISTINCT project_no, type FROM given) kind LEFT JOIN LATERAL (
			SELECT type_seq FROM posthorn.events ${lastOfType("kind.project_no", "kind.type")} LIMIT 1
		) last ON true
	), appended AS (
		INSERT INTO posthorn.events (project_no, seq, id, type, type_seq, created_at, published_at, body)
		SELECT g.project_no, l.before + g.place, g.id, g.type, t.before + g.type_place, g.created_at, g.published_at,
			substring($10::bytea FROM g.start + 1 FOR g.length)
		FROM given g JOIN log_end l ON l.project_no = g.project_no
			JOIN type_end t ON t.project_no = g.project_no AND t.type = g.type
	), rung AS (
		UPDATE posthorn.leases l SET wake_at = 0
		FROM alarm JOIN log_end e ON e.project_no = alarm.project_no
		WHERE l.project_no = alarm.project_no
	)
	SELECT project_no, before FROM log_end UNION ALL SELECT project_no, NULL FROM known`;

/** Never waits: a project whose alarm must be set while another session locks its lease gets nothing. */
const APPEND_FREE = sql(
	append(
		`${ALARM} SKIP LOCKED`,
		`SELECT q.project_no FROM posthorn.leases q
		WHERE q.project_no = ANY (current_setting('${HELD}', true)::bigint[])
			AND (q.until IS NOT NULL OR q.wake_at = 0 OR q.project_no IN (SELECT project_no FROM alarm))`,
	),
);
const APPEND_ALL = sql(append(ALARM, `SELECT unnest(current_setting('${HELD}', true)::bigint[]) AS project_no`));

/** The result of a batch. For projects in neither, nothing was written: their log or lease row was locked. */
export interface Appended {
	/** By project, the last `seq` before. */
	readonly ends: Map<number, number>;
	/** Projects with an event whose id exists already: nothing was written. */
	readonly known: Set<number>;
}

/** In a transaction that holds logs by {@link holdLogs}. Appends nothing to others. */
export async function appendRows(c: Session, rows: readonly NewRow[], waits = false): Promise<Appended> {
	const places = new Counter<number>();
	const typePlaces = new Counter<string>();
	const bodies = pack(rows.map((row) => row.body));
	const answer = await c.rows<{ project_no: number; before: number | null }>(
		waits ? APPEND_ALL : APPEND_FREE,
		numberArray(rows.map((row) => row.projectNo)),
		numberArray(rows.map((row) => places.next(row.projectNo))),
		textArray(rows.map((row) => row.id)),
		numberArray(rows.map((row) => row.type)),
		numberArray(rows.map((row) => typePlaces.next(`${row.projectNo}/${row.type}`))),
		...numberColumns(rows, "createdAt", "publishedAt"),
		numberArray(bodies.starts),
		numberArray(bodies.lengths),
		bodies.bytes,
	);
	const ends = new Map<number, number>();
	const known = new Set<number>();
	for (const { project_no, before } of answer) {
		if (before === null) {
			known.add(project_no);
			continue;
		}
		ends.set(project_no, before);
		c.changed.add(project_no);
		c.ends.set(project_no, before + places.count(project_no));
	}
	return { ends, known };
}

/** Counts each key's calls, from 1. */
class Counter<K> {
	readonly #counts = new Map<K, number>();

	count(kind: K): number {
		return this.#counts.get(kind) ?? 0;
	}

	next(kind: K): number {
		const count = (this.#counts.get(kind) ?? 0) + 1;
		this.#counts.set(kind, count);
		return count;
	}
}
