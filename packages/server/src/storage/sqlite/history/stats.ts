import type { AttemptCounts, Params, Stats, StatsQuery } from "../../port.ts";
import { statusOf } from "../../shared/attempt-codes.ts";
import { ResponseTimes } from "../../shared/response-times.ts";
import type { Connection } from "../connection/connection.ts";
import { firstSeqsAt } from "../log/event-times.ts";
import { CLASS_OF_ATTEMPT } from "./response-classes.ts";
import { HOUR, MINUTE } from "./stats-roll-up.ts";

const MAX_BUCKETS = 400;

export function readStats(c: Connection, { projectId, query }: Params<"readStats">): Stats {
	const { since, until, stepMs } = query;
	const count = (until - since) / stepMs;
	if (!Number.isInteger(count) || count < 0 || count > MAX_BUCKETS || since % stepMs !== 0 || stepMs % MINUTE !== 0)
		throw new RangeError(`From ${since} to ${until} by steps of ${stepMs} ms are no buckets that statistics come in.`);
	const project = c.names.project(projectId);
	const webhook = project === null || query.webhookId === undefined ? null : c.names.webhook(project, query.webhookId);
	const tallies = Array.from({ length: count }, () => new Tally());
	const total = new Tally();
	let seqs: number[] | null = null;
	if (project !== null && (query.webhookId === undefined || webhook !== null)) {
		tally(c, project, webhook, query, (at) => tallies[Math.floor((at - since) / stepMs)]!);
		for (const each of tallies) total.addAll(each);
		if (webhook === null) seqs = firstSeqsAt(c, project, [...tallies.map((_, i) => since + i * stepMs), until]);
	}
	const events = (from: number, to: number) => (seqs === null ? 0 : seqs[to]! - seqs[from]!);
	return {
		buckets: tallies.map((each, i) => ({ at: since + i * stepMs, events: events(i, i + 1), ...each.counts() })),
		total: { events: events(0, count), ...total.counts() },
	};
}

/** What was counted before, and what has gathered since. */
function tally(
	c: Connection,
	project: number,
	webhook: number | null,
	{ since, until, stepMs }: StatsQuery,
	bucketOf: (at: number) => Tally,
): void {
	const grain = stepMs % HOUR === 0 ? HOUR : MINUTE;
	const counted = c.sql(`
		SELECT at, status, class, n FROM attempt_stats WHERE scope = ? AND grain = ? AND at >= ? AND at < ?`);
	for (const row of counted.iterate(webhook ?? -project, grain, since / grain, until / grain))
		bucketOf((row.at as number) * grain).add(row);
	const gathered = c.sql(`
		SELECT started_at, status, ${CLASS_OF_ATTEMPT} AS class, 1 AS n FROM attempts NOT INDEXED
		WHERE no > (SELECT counted_through FROM stats_progress WHERE id = 1)
			AND project_no = ?1 AND (?2 IS NULL OR webhook_no = ?2) AND started_at >= ?3 AND started_at < ?4`);
	for (const row of gathered.iterate(project, webhook, since, until)) bucketOf(row.started_at as number).add(row);
}

/** The attempts of a bucket. */
class Tally {
	readonly #ended = { delivered: 0, retrying: 0, failed: 0 };
	readonly #times = new ResponseTimes();

	add(row: Record<string, unknown>): void {
		const n = row.n as number;
		this.#ended[statusOf(row.status)] += n;
		this.#times.add(row.class as number, n);
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
