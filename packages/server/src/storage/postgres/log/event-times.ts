import { numberArray } from "../connection/literals.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";

const LAST = sql("SELECT last_seq FROM posthorn.logs WHERE project_no = $1");

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
