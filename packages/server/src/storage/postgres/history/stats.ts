import type { Params, Stats, StatsQuery } from "../../port.ts";
import { Buckets, type Count, grainOf, HOUR, MINUTE, MINUTES_KEPT_MS, NOT_COUNTED } from "../../shared/stats.ts";
import type { Database } from "../connection/database.ts";
import { findProject, findWebhook } from "../connection/names.ts";
import { type Session, sql } from "../connection/session.ts";
import { TRY_LOCK_STATS } from "../lanes/locks.ts";
import { firstSeqsAt } from "../log/log.ts";

export async function readStats(c: Session, { projectId, query }: Params<"readStats">): Promise<Stats> {
	const { since, stepMs, webhookId } = query;
	const buckets = new Buckets(query);
	const project = await findProject(c, projectId);
	const webhook = project === null || webhookId === undefined ? null : await findWebhook(c, project, webhookId);
	if (project === null || (webhookId !== undefined && webhook === null)) return buckets.stats(null);
	const [rows, seqs] = await Promise.all([
		countAttempts(c, project, webhook, query),
		webhook === null ? firstSeqsAt(c, project, buckets.times) : null,
	]);
	for (const row of rows) buckets.add(since + row.bucket * stepMs, row);
	return buckets.stats(seqs);
}

/** How many attempts fell into a time bucket (from 0) with the same status and response-time bucket. */
type BucketCount = Count & { readonly bucket: number };

/** Rolled-up counts, plus those not yet rolled up: each attempt is in one of the two. */
const COUNTS = sql(`
	SELECT (began - $since::bigint) / $step::bigint AS bucket, status, class, sum(n)::bigint AS n
	FROM (
		SELECT at * $grain AS began, status, class, n FROM posthorn.attempt_stats
		WHERE project_no = $project
			AND (webhook_no, grain, at) >= (coalesce($webhook::bigint, 0), $grain::integer, $since / $grain)
			AND (webhook_no, grain, at) < (coalesce($webhook, 0), $grain, $until::bigint / $grain)
		UNION ALL
		SELECT one.minute * ${MINUTE}, one.status, one.class, 1
		FROM posthorn.attempt_counts c CROSS JOIN LATERAL unnest(c.project_no, c.webhook_no, c.minute, c.status, c.class)
			AS one (project_no, webhook_no, minute, status, class)
		WHERE one.project_no = $project AND one.minute <> ${NOT_COUNTED} AND ($webhook IS NULL OR one.webhook_no = $webhook)
			AND one.minute >= $since / ${MINUTE} AND one.minute < $until / ${MINUTE}
	) counts
	GROUP BY 1, 2, 3`);

function countAttempts(c: Session, project: number, webhook: number | null, query: StatsQuery): Promise<BucketCount[]> {
	const { since, until, stepMs: step } = query;
	return c.rows<BucketCount>(COUNTS, { project, webhook, grain: grainOf(query), since, until, step });
}

/**
 * Each settle adds one row to `attempt_counts`, with an element per attempt. Once enough have accumulated, one
 * statement moves them into `attempt_stats`. In every state of the database each attempt is in exactly one of the two,
 * so statistics are always those of the last commit.
 */

/** Attempts that accumulate on a node before they are moved: enough that most share rows … */
const GATHERED = 30_000;
/** … or settles, so that readers find few rows even if each has few attempts. */
const GATHERED_SETTLES = 1_000;
/**
 * The maximum number of rows moved in one statement: twice what a node accumulates and, with a thousand attempts in
 * each, no more than fits into a statement's time limit.
 */
const ROWS_AT_ONCE = 2_000;

const MOVE = sql(`
	WITH gone AS (
		DELETE FROM posthorn.attempt_counts
		WHERE ctid = ANY (ARRAY(SELECT ctid FROM posthorn.attempt_counts LIMIT ${ROWS_AT_ONCE}))
		RETURNING project_no, webhook_no, minute, status, class
	), attempt AS (
		SELECT one.* FROM gone CROSS JOIN LATERAL unnest(project_no, webhook_no, minute, status, class)
			AS one (project_no, webhook_no, minute, status, class)
	)
	INSERT INTO posthorn.attempt_stats AS s (project_no, webhook_no, grain, at, status, class, n)
	SELECT project_no, scope.webhook_no, grain.ms, minute * ${MINUTE} / grain.ms, status, class, count(*)
	FROM attempt
		CROSS JOIN LATERAL (VALUES (attempt.webhook_no), (0)) AS scope (webhook_no)
		CROSS JOIN (VALUES (${MINUTE}), (${HOUR})) AS grain (ms)
	WHERE minute <> ${NOT_COUNTED}
	GROUP BY 1, 2, 3, 4, 5, 6
	ORDER BY 1, 2, 3, 4, 5, 6
	ON CONFLICT (project_no, webhook_no, grain, at, status, class) DO UPDATE SET n = s.n + excluded.n`);

/** In a transaction. Does nothing if another node is rolling up. */
export async function moveCounts(c: Session): Promise<void> {
	if ((await c.row(TRY_LOCK_STATS)) !== undefined) await c.run(MOVE);
}

/** Moves counts whenever this node has settled enough. */
export class StatsRollUp {
	readonly #database: Database;
	#gathered = 0;
	#settles = 0;
	#moving = false;

	constructor(database: Database) {
		this.#database = database;
	}

	settled(attempts: number): void {
		if (attempts === 0) return;
		this.#gathered += attempts;
		this.#settles += 1;
		if ((this.#gathered < GATHERED && this.#settles < GATHERED_SETTLES) || this.#moving) return;
		this.#gathered = 0;
		this.#settles = 0;
		this.#moving = true;
		this.#database
			.run((connections) => connections.transaction("people", moveCounts))
			// Counts that weren't moved are read from where they are, and moved next time.
			.catch((error: unknown) => process.emitWarning(`Attempt counts could not be rolled up: ${error}`))
			.finally(() => {
				this.#moving = false;
			});
	}
}

const SWEEP = sql(`
	DELETE FROM posthorn.attempt_stats WHERE ctid = ANY (ARRAY(
		SELECT ctid FROM posthorn.attempt_stats WHERE grain = $1 AND at < $2 ORDER BY at LIMIT $3 FOR UPDATE SKIP LOCKED
	))`);

/**
 * Deletes counts of minutes that are too old at `now` and of hours that ended before `cutoff`, up to `limit` of each.
 * Returns whether there may be more.
 */
export async function sweepStats(c: Session, cutoff: number, now: number, limit: number): Promise<boolean> {
	const [minutes, hours] = await Promise.all([
		c.run(SWEEP, MINUTE, Math.floor((now - MINUTES_KEPT_MS) / MINUTE), limit),
		c.run(SWEEP, HOUR, Math.floor(cutoff / HOUR), limit),
	]);
	return minutes === limit || hours === limit;
}
