import type { Params, SweepStep } from "../../port.ts";
import { numberArray } from "../connection/literals.ts";
import type { Row, Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";
import { lockDeliveries } from "../lanes/locks.ts";
import { holdLogs } from "../log/append-rows.ts";

const NEXT = sql(`
	SELECT e.no, e.project_no, p.id AS project_id, e.seq, e.type, e.published_at
	FROM (SELECT * FROM posthorn.events WHERE no >= $1 ORDER BY no LIMIT $2) e
		JOIN posthorn.projects p ON p.no = e.project_no
	ORDER BY e.no`);

const LANES = sql(`
	SELECT l.project_no, s.type, s.from_seq, l.position, l.open
	FROM posthorn.lanes l
		JOIN posthorn.subscriptions s ON s.project_no = l.project_no AND s.webhook_no = l.webhook_no
	WHERE l.project_no = ANY ($1::bigint[])`);

const DELETE = sql(`
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
export async function sweepEvents(c: Session, { cutoff, limit, from }: Params<"sweepEvents">): Promise<SweepStep> {
	const rows = await c.rows(NEXT, from, limit);
	const old = rows.filter((row) => (row.published_at as number) < cutoff);
	const { deleted, unattempted } = old.length === 0 ? NOTHING : await deleteUnneeded(c, old, cutoff);
	const last = rows.at(-1);
	const over = rows.length < limit || last === undefined || (last.published_at as number) >= cutoff;
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
	const [lanes, overdue] = await Promise.all([
		c.rows<Wanted>(LANES, projects),
		c.rows<{ project_no: number }>(OVERDUE, ...columns, cutoff),
	]);
	const late = new Set(overdue.map(({ project_no }) => project_no));
	const wanted = Map.groupBy(lanes, ({ project_no, type }) => `${project_no}/${type}`);
	const unattempted = new Set(
		old.filter((row) => wanted.get(`${row.project_no}/${row.type}`)?.some((lane) => waitsIn(lane, row.seq as number))),
	);
	const unneeded = old.filter((row) => !unattempted.has(row));
	const waiting = old.filter((row) => unattempted.has(row) || late.has(row.project_no as number));
	for (const row of waiting) c.changed.add(row.project_no as number);
	const silent = numberArray([...new Set(waiting.map((row) => row.project_no as number))]);
	const [deleted] = await Promise.all([
		c.run(
			DELETE,
			numberArray(unneeded.map((row) => row.project_no as number)),
			numberArray(unneeded.map((row) => row.seq as number)),
		),
		...(waiting.length > 0 ? [c.run(REVISE, silent), c.run(RING, silent)] : []),
	]);
	return { deleted, unattempted: [...new Set(waiting.map((row) => row.project_id as string))] };
}

/** What a lane has yet to attempt of a type. */
type Wanted = { project_no: number; type: number; from_seq: number; position: number; open: number[] };

/** Whether a lane has yet to attempt an event. */
const waitsIn = ({ from_seq, position, open }: Wanted, seq: number): boolean =>
	seq > 0 && seq > from_seq && (seq > position || open.includes(seq));
