/**
 * Attempts are rolled up into `attempt_stats` not with each settle but in ranges of the log, once enough have
 * accumulated after the mark in `stats_progress`. The mark moves in the same transaction, so each attempt is counted
 * once. Readers count the attempts after the mark themselves, so statistics are always those of the last commit. There
 * are few of these: a settle that finds {@link GATHERED} rows after the mark, including its own, moves the mark to the
 * end.
 */
import { NOT_SENT, PER_OCTAVE } from "../../shared/response-times.ts";
import { HOUR, MINUTE, MINUTES_KEPT_MS } from "../../shared/stats.ts";
import type { Connection } from "../connection/connection.ts";

/** Attempts that accumulate before they are rolled up: enough that most share rows. */
const GATHERED = 2_000;

/** Up to which row of the log attempts are counted, and how far the log extends. */
function progress(c: Connection): { counted: number; last: number } {
	const row = c
		.sql(`
			SELECT counted_through AS counted, (SELECT max(no) FROM attempts) AS last FROM stats_progress WHERE id = 1`)
		.get()!;
	return { counted: row.counted as number, last: (row.last as number | null) ?? 0 };
}

/** Counts the accumulated attempts, if there are enough. */
export function countGathered(c: Connection): void {
	const { counted, last } = progress(c);
	if (last - counted >= GATHERED) countRange(c, counted, last);
}

/** Counts at least everything up to this row, before it is deleted. */
export function countThrough(c: Connection, no: number): void {
	const { counted, last } = progress(c);
	if (no > counted) countRange(c, counted, last);
}

function countRange(c: Connection, after: number, through: number): void {
	c.sql(`
		WITH minutes AS MATERIALIZED (
			SELECT project_no, webhook_no, started_at / ${MINUTE} AS minute, status, ${CLASS_OF_ATTEMPT} AS class, count(*) AS n
			FROM attempts NOT INDEXED WHERE no > ? AND no <= ? GROUP BY 1, 2, 3, 4, 5
		)
		INSERT INTO attempt_stats (scope, grain, at, status, class, n)
		SELECT scope, grain, at, status, class, sum(n) FROM (
			SELECT webhook_no AS scope, ${MINUTE} AS grain, minute AS at, status, class, n FROM minutes
			UNION ALL SELECT -project_no, ${MINUTE}, minute, status, class, n FROM minutes
			UNION ALL SELECT webhook_no, ${HOUR}, minute / 60, status, class, n FROM minutes
			UNION ALL SELECT -project_no, ${HOUR}, minute / 60, status, class, n FROM minutes
		)
		WHERE true GROUP BY 1, 2, 3, 4, 5
		ON CONFLICT DO UPDATE SET n = n + excluded.n`).run(after, through);
	c.sql("UPDATE stats_progress SET counted_through = ? WHERE id = 1").run(through);
}

/**
 * After rows of the log were deleted: numbers at its end are reused, and the attempts that get them aren't counted yet.
 */
export function followEnd(c: Connection): void {
	const { counted, last } = progress(c);
	if (last < counted) c.sql("UPDATE stats_progress SET counted_through = ? WHERE id = 1").run(last);
}

/**
 * Deletes counts of minutes that are too old at `now` and of hours that ended before `cutoff`, up to `limit` of each.
 * Returns whether there may be more.
 */
export function sweepStats(c: Connection, cutoff: number, now: number, limit: number): boolean {
	const sweep = c.sql(`
		DELETE FROM attempt_stats WHERE (scope, grain, at, status, class) IN
			(SELECT scope, grain, at, status, class FROM attempt_stats WHERE grain = ? AND at < ? LIMIT ?)`);
	const minutes = sweep.run(MINUTE, Math.floor((now - MINUTES_KEPT_MS) / MINUTE), limit);
	const hours = sweep.run(HOUR, Math.floor(cutoff / HOUR), limit);
	return minutes.changes === limit || hours.changes === limit;
}

/** The response-time bucket of a row of `attempts`. */
export const CLASS_OF_ATTEMPT = `
	CASE WHEN sent_timestamp IS NULL THEN ${NOT_SENT}
	ELSE CAST(${PER_OCTAVE} * log2(max(response_ms, 1)) AS INTEGER) END`;
