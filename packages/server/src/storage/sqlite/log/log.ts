import type { LogEnd, Params } from "../../port.ts";
import { withinBytes } from "../../shared/bodies.ts";
import { type Connection, mergedRanges, type Row } from "../connection/connection.ts";
import { type EventRows, pack } from "../connection/wire.ts";

const COLUMNS = "seq, id, type, created_at, published_at, body";
const BY_SEQ = `SELECT ${COLUMNS} FROM events WHERE project_no = ? AND seq = ?`;

/** One process owns the file, so nothing is lost while it runs. */
export function readLogEnd(c: Connection, { projectId }: Params<"readLogEnd">): LogEnd | null {
	const row = c.row<{ lastSeq: number }>('SELECT last_seq AS "lastSeq" FROM projects WHERE id = ?', projectId);
	return row === undefined ? null : { lastSeq: row.lastSeq, kept: null };
}

export function readLog(c: Connection, { projectId, after, window, types }: Params<"readLog">): EventRows {
	const project = c.names.project(projectId);
	// Test events are numbered below 0 and aren't part of the log.
	const from = Math.max(after, 0);
	const bytesOf = ({ body }: Row) => (body as Uint8Array).length;
	const fitting = (rows: Iterable<Row>) => toColumns(c, withinBytes(rows, window.maxBytes, bytesOf));
	if (types === undefined) return fitting(c.each(LOG, project, from, window.maxEvents));
	const codes = [...new Set(types)].map((type) => c.names.type(type)).filter((code) => code !== null);
	if (codes.length === 0) return fitting([]);
	const ranges = codes.map((code) => `SELECT seq FROM events WHERE project_no = ?1 AND type = ${code} AND seq > ?2`);
	const seqs = c.rows<{ seq: number }>(mergedRanges(ranges, "seq"), project, from, window.maxEvents);
	return fitting(seqs.values().map(({ seq }) => c.row(BY_SEQ, project, seq)!));
}

const LOG = `SELECT ${COLUMNS} FROM events WHERE project_no = ? AND seq > ? ORDER BY seq LIMIT ?`;

export function readEvents(c: Connection, { projectId, seqs }: Params<"readEvents">): EventRows {
	const project = c.names.project(projectId);
	return toColumns(
		c,
		[...new Set(seqs)].flatMap((seq) => c.rows<Row>(BY_SEQ, project, seq)),
	);
}

function toColumns(c: Connection, rows: readonly Row[]): EventRows {
	const numbers = (column: string) => rows.map((row) => row[column] as number);
	return [
		numbers("seq"),
		rows.map((row) => row.id as string),
		numbers("type").map((type) => c.names.typeName(type)),
		numbers("created_at"),
		numbers("published_at"),
		pack(rows.map((row) => row.body as Uint8Array)),
	];
}

const FIND_SEQ = "SELECT seq FROM events WHERE project_no = ? AND id = ?";

/** The number of an event; null if it doesn't exist. */
export function findSeq(c: Connection, projectNo: number, eventId: string): number | null {
	return c.row<{ seq: number }>(FIND_SEQ, projectNo, eventId)?.seq ?? null;
}

/** The number of the last event in the log. */
export const lastSeq = (c: Connection, projectNo: number): number =>
	c.row<{ seq: number }>("SELECT last_seq AS seq FROM projects WHERE no = ?", projectNo)!.seq;

/**
 * For each of these times (ascending), the `seq` of the first event appended from then on, or the next number if there
 * is none. Times rise with `seq`, so this is a binary search: a few index rows per time, and none for times between two
 * with the same result.
 */
export function firstSeqsAt(c: Connection, projectNo: number, times: readonly number[]): number[] {
	const end = lastSeq(c, projectNo) + 1;
	const seqs = new Array<number>(times.length);
	/** Fills in the times from `first` to before `last`, whose results are between two numbers. */
	const fill = (first: number, last: number, low: number, high: number): void => {
		if (low === high) seqs.fill(high, first, last);
		if (low === high || first === last) return;
		const middle = (first + last) >>> 1;
		const seq = firstSeqAt(c, projectNo, times[middle]!, low, high);
		seqs[middle] = seq;
		fill(first, middle, low, seq);
		fill(middle + 1, last, seq, high);
	};
	fill(0, times.length, 1, end);
	return seqs;
}

/** The first event from `low`, before `high`, that was appended at this time or later; `high` if there is none. */
function firstSeqAt(c: Connection, projectNo: number, time: number, low: number, high: number): number {
	let [from, to, found] = [low, high, high];
	while (from < to) {
		const middle = Math.floor((from + to) / 2);
		const event = c.row<{ seq: number; published_at: number }>(NEXT, projectNo, middle, to);
		if (event === undefined) to = middle;
		else if (event.published_at < time) from = event.seq + 1;
		else {
			found = event.seq;
			to = middle;
		}
	}
	return found;
}

/** Retention may have removed events, so numbers may be missing. */
const NEXT = "SELECT seq, published_at FROM events WHERE project_no = ? AND seq >= ? AND seq < ? ORDER BY seq LIMIT 1";
