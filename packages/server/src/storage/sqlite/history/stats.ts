import type { Params, Stats, StatsQuery } from "../../port.ts";
import { Buckets, type Count, grainOf } from "../../shared/stats.ts";
import type { Connection } from "../connection/connection.ts";
import { firstSeqsAt } from "../log/event-times.ts";
import { CLASS_OF_ATTEMPT } from "./stats-roll-up.ts";

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
	const counted = c.sql(`
		SELECT at, status, class, n FROM attempt_stats WHERE scope = ? AND grain = ? AND at >= ? AND at < ?`);
	for (const row of counted.iterate(webhook ?? -project, grain, since / grain, until / grain))
		buckets.add((row.at as number) * grain, row as unknown as Count);
	const gathered = c.sql(`
		SELECT started_at, status, ${CLASS_OF_ATTEMPT} AS class, 1 AS n FROM attempts NOT INDEXED
		WHERE no > (SELECT counted_through FROM stats_progress WHERE id = 1)
			AND project_no = ?1 AND (?2 IS NULL OR webhook_no = ?2) AND started_at >= ?3 AND started_at < ?4`);
	for (const row of gathered.iterate(project, webhook, since, until))
		buckets.add(row.started_at as number, row as unknown as Count);
}
