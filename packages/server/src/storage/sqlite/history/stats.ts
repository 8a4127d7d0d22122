import type { Params, Stats, StatsQuery } from "../../port.ts";
import { STATUS_CODE } from "../../shared/deliveries.ts";
import {
	Buckets,
	CLOSED,
	type Count,
	grainOf,
	HOUR,
	IS_CLOSING,
	MINUTE,
	MINUTES_KEPT_MS,
	NOT_SENT,
	PER_OCTAVE,
} from "../../shared/stats.ts";
import type { Connection } from "../connection/connection.ts";
import { firstSeqsAt } from "../log/log.ts";

export function readStats(c: Connection, { projectId, query }: Params<"readStats">): Stats {
	const buckets = new Buckets(query);
	const project = c.names.project(projectId);
	const webhook = project === null || query.webhookId === undefined ? null : c.names.webhook(project, query.webhookId);
	if (project === null || (query.webhookId !== undefined && webhook === null)) return buckets.stats(null);
	count(c, project, webhook, query, buckets);
	return buckets.stats(webhook === null ? firstSeqsAt(c, project, buckets.times) : null);
}

/** Rolled-up counts, plus attempts logged since. */
function count(c: Connection, project: number, webhook: number | null, query: StatsQuery, buckets: Buckets): void {
	const { since, until } = query;
	const grain = grainOf(query);
	for (const row of c.each<CountAt>(COUNTED, webhook ?? -project, grain, since / grain, until / grain))
		buckets.add(row.at * grain, row);
	for (const row of c.each<CountAt>(GATHERED_SINCE, project, webhook, since, until)) buckets.add(row.at, row);
}

type CountAt = Count & { readonly at: number };

/** The response-time bucket of a row of `attempts`. */
const CLASS_OF_ATTEMPT = `
	CASE WHEN sent_timestamp IS NULL THEN CASE WHEN ${IS_CLOSING} THEN ${CLOSED} ELSE ${NOT_SENT} END
	ELSE CAST(${PER_OCTAVE} * log2(max(response_ms, 1)) AS INTEGER) END`;

const COUNTED = "SELECT at, status, class, n FROM attempt_stats WHERE scope = ? AND grain = ? AND at >= ? AND at < ?";
const GATHERED_SINCE = `
	SELECT started_at AS at, status, ${CLASS_OF_ATTEMPT} AS class, 1 AS n FROM attempts NOT INDEXED
	WHERE no > (SELECT counted_through FROM stats_progress WHERE id = 1)
		AND seq > 0 AND project_no = ?1 AND (?2 IS NULL OR webhook_no = ?2) AND started_at >= ?3 AND started_at < ?4`;

/** A webhook's attempts between whole minutes, without closings and test events. */
export function countBetween(
	c: Connection,
	webhook: number,
	since: number,
	until: number = Number.MAX_SAFE_INTEGER,
): { delivered: number; failed: number } {
	const minutes = [Math.ceil(since / MINUTE), Math.ceil(until / MINUTE)];
	return c.row<{ delivered: number; failed: number }>(RECENT, webhook, ...minutes, since, until)!;
}

const RECENT = `
	SELECT total(n) FILTER (WHERE status = ${STATUS_CODE.delivered}) AS delivered,
		total(n) FILTER (WHERE status <> ${STATUS_CODE.delivered}) AS failed
	FROM (
		SELECT status, n FROM attempt_stats
		WHERE scope = ?1 AND grain = ${MINUTE} AND at >= ?2 AND at < ?3 AND class <> ${CLOSED}
		UNION ALL
		SELECT status, 1 FROM attempts NOT INDEXED
		WHERE no > (SELECT counted_through FROM stats_progress WHERE id = 1)
			AND seq > 0 AND webhook_no = ?1 AND started_at >= ?4 AND started_at < ?5 AND NOT coalesce(${IS_CLOSING}, 0)
	)`;

/**
 * Attempts are rolled up into `attempt_stats` not with each settle but in ranges of the log, once enough have
 * accumulated after the mark in `stats_progress`. The mark moves in the same transaction, so each attempt is counted
 * once. Readers count the attempts after the mark themselves, so statistics are always those of the last commit. There
 * are few of these: a settle that finds {@link GATHERED} rows after the mark, including its own, moves the mark to the
 * end.
 */

/** Attempts that accumulate before they are rolled up: enough that most share rows. */
const GATHERED = 2_000;

/** Up to which row of the log attempts are counted, and how far the log extends. */
function progress(c: Connection): { counted: number; last: number } {
	return c.row<{ counted: number; last: number }>(`
		SELECT counted_through AS counted, coalesce((SELECT max(no) FROM attempts), 0) AS last
		FROM stats_progress WHERE id = 1`)!;
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
	c.run(COUNT, after, through);
	c.run(SET_PROGRESS, through);
}

const COUNT = `
	WITH minutes AS MATERIALIZED (
		SELECT project_no, webhook_no, started_at / ${MINUTE} AS minute, status, ${CLASS_OF_ATTEMPT} AS class, count(*) AS n
		FROM attempts NOT INDEXED WHERE no > ? AND no <= ? AND seq > 0 GROUP BY 1, 2, 3, 4, 5
	)
	INSERT INTO attempt_stats (scope, grain, at, status, class, n)
	SELECT scope, grain, at, status, class, sum(n) FROM (
		SELECT webhook_no AS scope, ${MINUTE} AS grain, minute AS at, status, class, n FROM minutes
		UNION ALL SELECT -project_no, ${MINUTE}, minute, status, class, n FROM minutes
		UNION ALL SELECT webhook_no, ${HOUR}, minute / 60, status, class, n FROM minutes
		UNION ALL SELECT -project_no, ${HOUR}, minute / 60, status, class, n FROM minutes
	)
	WHERE true GROUP BY 1, 2, 3, 4, 5
	ON CONFLICT DO UPDATE SET n = n + excluded.n`;
const SET_PROGRESS = "UPDATE stats_progress SET counted_through = ? WHERE id = 1";

/**
 * After rows of the log were deleted: numbers at its end are reused, and the attempts that get them aren't counted yet.
 */
export function followEnd(c: Connection): void {
	const { counted, last } = progress(c);
	if (last < counted) c.run(SET_PROGRESS, last);
}

/**
 * Deletes counts of minutes that are too old at `now` and of hours that ended before `cutoff`, up to `limit` of each.
 * Returns whether there may be more.
 */
export function sweepStats(c: Connection, cutoff: number, now: number, limit: number): boolean {
	const minutes = c.run(SWEEP, MINUTE, Math.floor((now - MINUTES_KEPT_MS) / MINUTE), limit);
	const hours = c.run(SWEEP, HOUR, Math.floor(cutoff / HOUR), limit);
	return minutes === limit || hours === limit;
}

const SWEEP = `
	DELETE FROM attempt_stats WHERE (scope, grain, at, status, class) IN
		(SELECT scope, grain, at, status, class FROM attempt_stats WHERE grain = ? AND at < ? LIMIT ?)`;
