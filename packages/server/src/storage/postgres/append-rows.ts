import type { AppendRequest } from "../port.ts";
import { numberArray, textArray } from "./literals.ts";
import { pack } from "./packed.ts";
import type { Session } from "./session.ts";
import { sql } from "./sql.ts";
import { lastOfType } from "./type-ranges.ts";

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

const LOCK = sql(`
	SELECT FROM posthorn.logs WHERE project_no = ANY ($1::bigint[]) ORDER BY project_no FOR NO KEY UPDATE`);

/** Holds the ends of these logs until the transaction ends. */
export async function lockLogs(c: Session, projectNos: Iterable<number>): Promise<void> {
	await c.run(LOCK, numberArray([...projectNos]));
}

/**
 * Appends events to the logs that are held, numbers them from where each ends, and rings alarms that nobody holds. A
 * project of which one event's id is there already gets none, and is missing in the answer.
 */
const APPEND = sql(`
	WITH given AS MATERIALIZED (
		SELECT * FROM unnest(
			$1::bigint[], $2::bigint[], $3::text[], $4::integer[], $5::bigint[], $6::bigint[], $7::bigint[], $8::integer[],
			$9::integer[]
		) AS g (project_no, place, id, type, type_place, created_at, published_at, start, length)
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
		FROM (
			SELECT q.project_no FROM posthorn.leases q JOIN log_end e ON e.project_no = q.project_no
			WHERE q.until IS NULL AND q.wake_at IS DISTINCT FROM 0 ORDER BY q.project_no FOR NO KEY UPDATE OF q
		) silent
		WHERE l.project_no = silent.project_no
	)
	SELECT project_no, before FROM log_end`);

/** @returns by project the last `seq` before; without the projects that were left out. */
export async function appendRows(c: Session, rows: readonly NewRow[]): Promise<Map<number, number>> {
	const places = new Counter<number>();
	const typePlaces = new Counter<string>();
	const bodies = pack(rows.map((row) => row.body));
	const ends = await c.rows<{ project_no: number; before: number }>(
		APPEND,
		numberArray(rows.map((row) => row.projectNo)),
		numberArray(rows.map((row) => places.next(row.projectNo))),
		textArray(rows.map((row) => row.id)),
		numberArray(rows.map((row) => row.type)),
		numberArray(rows.map((row) => typePlaces.next(`${row.projectNo}/${row.type}`))),
		numberArray(rows.map((row) => row.createdAt)),
		numberArray(rows.map((row) => row.publishedAt)),
		numberArray(bodies.starts),
		numberArray(bodies.lengths),
		bodies.bytes,
	);
	for (const { project_no, before } of ends) {
		c.changed.add(project_no);
		c.ends.set(project_no, before + places.count(project_no));
	}
	return new Map(ends.map(({ project_no, before }) => [project_no, before]));
}

/** Numbers what it is shown from 1, for each kind by itself. */
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
