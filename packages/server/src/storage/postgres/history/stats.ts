import type { AttemptCounts, Params, Stats, StatsQuery } from "../../port.ts";
import { statusOf } from "../../shared/attempt-codes.ts";
import { ResponseTimes } from "../../shared/response-times.ts";
import { findProject, findWebhook } from "../connection/find.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";
import { firstSeqsAt } from "../log/event-times.ts";
import { HOUR, MINUTE } from "./stats-roll-up.ts";

const MAX_BUCKETS = 400;

export async function readStats(c: Session, { projectId, query }: Params<"readStats">): Promise<Stats> {
	const { since, until, stepMs, webhookId } = query;
	const count = (until - since) / stepMs;
	if (!Number.isInteger(count) || count < 0 || count > MAX_BUCKETS || since % stepMs !== 0 || stepMs % MINUTE !== 0)
		throw new RangeError(`From ${since} to ${until} by steps of ${stepMs} ms are no buckets that statistics come in.`);
	const project = await findProject(c, projectId);
	const webhook = project === null || webhookId === undefined ? null : await findWebhook(c, project, webhookId);
	const tallies = Array.from({ length: count }, () => new Tally());
	const total = new Tally();
	let seqs: number[] | null = null;
	if (project !== null && (webhookId === undefined || webhook !== null)) {
		const times = [...tallies.map((_, i) => since + i * stepMs), until];
		const [rows, found] = await Promise.all([
			countAttempts(c, project, webhook, query),
			webhook === null ? firstSeqsAt(c, project, times) : null,
		]);
		for (const row of rows) tallies[row.bucket]!.add(row);
		for (const each of tallies) total.addAll(each);
		seqs = found;
	}
	const events = (from: number, to: number) => (seqs === null ? 0 : seqs[to]! - seqs[from]!);
	return {
		buckets: tallies.map((each, i) => ({ at: since + i * stepMs, events: events(i, i + 1), ...each.counts() })),
		total: { events: events(0, count), ...total.counts() },
	};
}

/** How many attempts fell into a bucket (from 0) and ended alike in about the same time. */
type Count = { readonly bucket: number; readonly status: number; readonly class: number; readonly n: number };

/** What was moved before, and what was not yet: each attempt is in one of the two. */
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

function countAttempts(
	c: Session,
	project: number,
	webhook: number | null,
	{ since, until, stepMs }: StatsQuery,
): Promise<Count[]> {
	const grain = stepMs % HOUR === 0 ? HOUR : MINUTE;
	return c.rows<Count>(COUNTS, project, webhook, grain, since, until, stepMs);
}

/** The attempts of a bucket. */
class Tally {
	readonly #ended = { delivered: 0, retrying: 0, failed: 0 };
	readonly #times = new ResponseTimes();

	add({ status, class: responseClass, n }: Count): void {
		this.#ended[statusOf(status)] += n;
		this.#times.add(responseClass, n);
	}

	addAll(other: Tally): void {
		this.#ended.delivered += other.#ended.delivered;
		this.#ended.retrying += other.#ended.retrying;
		this.#ended.failed += other.#ended.failed;
		this.#times.addAll(other.#times);
	}

	counts(): AttemptCounts {
		return { ...this.#ended, p50Ms: this.#times.percentile(0.5), p95Ms: this.#times.percentile(0.95) };
	}
}
