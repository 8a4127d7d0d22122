import type { Params, Stats, StatsQuery } from "../../port.ts";
import { Buckets, type Count, grainOf, MINUTE } from "../../shared/stats.ts";
import { findProject, findWebhook } from "../connection/names.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";
import { firstSeqsAt } from "../log/event-times.ts";

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
	SELECT (began - $4::bigint) / $6::bigint AS bucket, status, class, sum(n)::bigint AS n
	FROM (
		SELECT at * $3 AS began, status, class, n FROM posthorn.attempt_stats
		WHERE project_no = $1 AND (webhook_no, grain, at) >= (coalesce($2::bigint, 0), $3::integer, $4 / $3)
			AND (webhook_no, grain, at) < (coalesce($2, 0), $3, $5::bigint / $3)
		UNION ALL
		SELECT one.minute * ${MINUTE}, one.status, one.class, 1
		FROM posthorn.attempt_counts c CROSS JOIN LATERAL unnest(c.project_no, c.webhook_no, c.minute, c.status, c.class)
			AS one (project_no, webhook_no, minute, status, class)
		WHERE one.project_no = $1 AND ($2 IS NULL OR one.webhook_no = $2)
			AND one.minute >= $4 / ${MINUTE} AND one.minute < $5 / ${MINUTE}
	) counts
	GROUP BY 1, 2, 3`);

function countAttempts(c: Session, project: number, webhook: number | null, query: StatsQuery): Promise<BucketCount[]> {
	const { since, until, stepMs } = query;
	return c.rows<BucketCount>(COUNTS, project, webhook, grainOf(query), since, until, stepMs);
}
