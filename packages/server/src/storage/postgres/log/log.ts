import type { LogEnd, LogEvent, Params } from "../../port.ts";
import { newestLog } from "../connection/hot-rows.ts";
import { findProject, findTypes } from "../connection/names.ts";
import { numberArray, type Session, sql } from "../connection/session.ts";
import { type Epoch, FORKS_SINCE } from "../leases/epochs.ts";

/**
 * The first events of a type after a `seq`, in the order of the log: the end of a SELECT from `posthorn.events`. Written
 * so that only `events_by_type` fits: with plain equality, the planner may use another index and skip over all other
 * types, which are many events if the type is rare.
 */
export const firstOfType = (project: string, type: string, after: string): string => `
	WHERE project_no = ${project} AND (type, seq) > (${type}, ${after}) AND type <= ${type} ORDER BY type, seq`;

/** The last events of a type in the log: the end of a SELECT from `posthorn.events`. */
export const lastOfType = (project: string, type: string): string => `
	WHERE project_no = ${project} AND (type, seq) > (${type}, 0) AND (type, seq) <= (${type}, ${Number.MAX_SAFE_INTEGER})
	ORDER BY type DESC, seq DESC`;

/**
 * The event of this number: the end of a SELECT from `posthorn.events`. Written as a range with its order, so that only
 * the primary key fits: with equality, another index may look as good if most projects have one event, and read all
 * events of this one.
 */
export const numbered = (project: string, seq: string): string => `
	WHERE project_no = ${project} AND seq BETWEEN ${seq} AND ${seq} ORDER BY seq LIMIT 1`;

/** The event with this id, in the same way by `events_by_id`. */
export const identified = (project: string, id: string): string => `
	WHERE project_no = ${project} AND id BETWEEN ${id} AND ${id} ORDER BY id LIMIT 1`;

const COLUMNS = "e.seq, e.id, t.name AS type, e.created_at, e.published_at, e.body";
const TYPE = "JOIN posthorn.event_types t ON t.code = e.type";

/** Rows in order until their bodies exceed `$4` bytes, and always the first. */
const withinBytes = (rows: string) => `
	SELECT ${COLUMNS}
	FROM (
		SELECT w.*, sum(octet_length(w.body)) OVER (ORDER BY w.seq) AS bytes, row_number() OVER (ORDER BY w.seq) AS place
		FROM (${rows}) w
	) e ${TYPE}
	WHERE e.bytes <= $4 OR e.place = 1
	ORDER BY e.seq`;

const READ = sql(withinBytes("SELECT * FROM posthorn.events WHERE project_no = $1 AND seq > $2 ORDER BY seq LIMIT $3"));

const READ_TYPES = sql(
	withinBytes(`
		SELECT found.*
		FROM (
			SELECT one.seq
			FROM unnest($5::integer[]) AS wanted (type) CROSS JOIN LATERAL (
				SELECT seq FROM posthorn.events ${firstOfType("$1", "wanted.type", "$2")} LIMIT $3
			) one
			ORDER BY one.seq LIMIT $3
		) place CROSS JOIN LATERAL (SELECT * FROM posthorn.events ${numbered("$1", "place.seq")}) found`),
);

export async function readLog(c: Session, { projectId, after, window, types }: Params<"readLog">): Promise<LogEvent[]> {
	const project = await findProject(c, projectId);
	if (project === null) return [];
	// Test events are numbered below 0 and aren't part of the log.
	const bounds = [project, Math.max(after, 0), window.maxEvents, Math.floor(window.maxBytes)];
	if (types === undefined) return (await c.rows(READ, ...bounds)).map(toEvent);
	const codes = await findTypes(c, types);
	return codes.length === 0 ? [] : (await c.rows(READ_TYPES, ...bounds, numberArray(codes))).map(toEvent);
}

const END = sql(`
	SELECT g.last_seq, (
		SELECT min(since.kept) FROM (${FORKS_SINCE}) since WHERE since.project_no = g.project_no
	) AS kept
	FROM (SELECT project_no, last_seq ${newestLog("$3")}) g`);
/** How a node identifies an epoch to readers: its number and its id. */
const EPOCH = /^(\d{1,15})\.([0-9a-f]{8})$/;
/** Later than any epoch: nothing has diverged from it. */
const NO_EPOCH = [Number.MAX_SAFE_INTEGER, ""];

export const epochName = ({ no, id }: Epoch): string => `${no}.${id}`;

export async function readLogEnd(c: Session, { projectId, since }: Params<"readLogEnd">): Promise<LogEnd | null> {
	const project = await findProject(c, projectId);
	if (project === null) return null;
	const [, no, id] = EPOCH.exec(since ?? "") ?? [];
	const epoch = no === undefined ? NO_EPOCH : [Number(no), id];
	const row = await c.row<{ last_seq: number; kept: number | null }>(END, ...epoch, project);
	return { lastSeq: row!.last_seq, kept: row!.kept };
}

const READ_SEQS = sql(`
	SELECT ${COLUMNS}
	FROM unnest($2::bigint[]) AS wanted (seq)
	CROSS JOIN LATERAL (SELECT * FROM posthorn.events ${numbered("$1", "wanted.seq")}) e ${TYPE}`);

export async function readEvents(c: Session, { projectId, seqs }: Params<"readEvents">): Promise<LogEvent[]> {
	const project = await findProject(c, projectId);
	if (project === null || seqs.length === 0) return [];
	return (await c.rows(READ_SEQS, project, numberArray([...new Set(seqs)]))).map(toEvent);
}

const FIND_SEQ = sql(`SELECT seq FROM posthorn.events ${identified("$1", "$2")}`);

/** The number of an event; null if it doesn't exist. */
export async function findSeq(c: Session, projectNo: number, eventId: string): Promise<number | null> {
	const row = await c.row<{ seq: number }>(FIND_SEQ, projectNo, eventId);
	return row?.seq ?? null;
}

const toEvent = (row: Record<string, unknown>): LogEvent => ({
	seq: row.seq as number,
	id: row.id as string,
	type: row.type as string,
	createdAt: row.created_at as number,
	publishedAt: row.published_at as number,
	body: row.body as Uint8Array,
});

const LAST = sql(`SELECT last_seq ${newestLog("$1")}`);

/**
 * For each of the times $2, the first event from $3, before $4, that was appended then or later; $4 if there is none.
 * Times rise with `seq` (if nodes' clocks differ, the results still do), so this is a binary search: each row of
 * `search` is a stretch of the log, with the times whose result is in it or right after it. Numbers may be missing
 * where retention deleted events.
 */
const FIRST_SEQS = sql(`
	WITH RECURSIVE search (low, high, found, times) AS (
		SELECT $3::bigint, $4::bigint, $4::bigint, $2::bigint[]
		UNION ALL
		SELECT half.low, half.high, half.found, half.times
		FROM search s
			LEFT JOIN LATERAL (
				SELECT seq, published_at FROM posthorn.events
				WHERE project_no = $1 AND seq >= (s.low + s.high) / 2 AND seq < s.high ORDER BY seq LIMIT 1
			) e ON true
			CROSS JOIN LATERAL (
				SELECT s.low, (s.low + s.high) / 2, coalesce(e.seq, s.found),
					ARRAY(SELECT t FROM unnest(s.times) AS t WHERE e.seq IS NULL OR t <= e.published_at)
				UNION ALL
				SELECT e.seq + 1, s.high, s.found, ARRAY(SELECT t FROM unnest(s.times) AS t WHERE t > e.published_at)
			) AS half (low, high, found, times)
		WHERE s.low < s.high AND cardinality(half.times) > 0
	)
	SELECT t AS time, found FROM search CROSS JOIN LATERAL unnest(times) AS t WHERE low >= high`);

/**
 * For each of these times (ascending), the `seq` of the first event appended from then on, or the next number if there
 * is none: a few index rows per time, and none for times with the same result.
 */
export async function firstSeqsAt(c: Session, projectNo: number, times: readonly number[]): Promise<number[]> {
	const end = (await c.row<{ last_seq: number }>(LAST, projectNo))!.last_seq + 1;
	const rows = await c.rows<{ time: number; found: number }>(FIRST_SEQS, projectNo, numberArray(times), 1, end);
	const seqs = new Map(rows.map(({ time, found }) => [time, found]));
	return times.map((time) => seqs.get(time)!);
}
