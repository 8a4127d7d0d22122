import type { Params, Stats, StatsQuery } from "../../../src/storage/port.ts";
import { Buckets, grainOf } from "../../../src/storage/shared/stats.ts";
import type { MemoryNode } from "./node.ts";

export function readStats(node: MemoryNode, { projectId, query }: Params<"readStats">): Stats {
	const buckets = new Buckets(query);
	const project = node.database.project(projectId);
	const webhook = project && query.webhookId !== undefined && node.database.webhook(project.no, query.webhookId);
	if (project === undefined || webhook === undefined) return buckets.stats(null);
	count(node, project.no, webhook ? webhook.no : null, query, buckets);
	return buckets.stats(webhook ? null : buckets.times.map((time) => firstSeqAt(node, project.no, time)));
}

function count(
	{ tables }: MemoryNode,
	projectNo: number,
	webhookNo: number | null,
	query: StatsQuery,
	buckets: Buckets,
): void {
	const grain = grainOf(query);
	const keyAt = (time: number) => ({
		...{ projectNo, grain, at: time / grain },
		...{ webhookNo: 0, status: 0, responseClass: Number.NEGATIVE_INFINITY },
	});
	for (const row of tables.stats.by.key.ascending(keyAt(query.since), keyAt(query.until)))
		if (webhookNo === null || row.webhookNo === webhookNo) {
			const { at, status, responseClass, n } = row;
			buckets.add(at * grain, { status, class: responseClass, n });
		}
}

/** The number of the first event appended at this time or later, or the next number. Times rise with `seq`. */
function firstSeqAt({ tables }: MemoryNode, projectNo: number, time: number): number {
	const end = tables.logs.get(projectNo)!.lastSeq + 1;
	let [from, to, found] = [1, end, end];
	while (from < to) {
		const middle = Math.floor((from + to) / 2);
		// Retention may have removed events, so numbers may be missing.
		const event = tables.events.by.seq.first({ projectNo, seq: middle }, { projectNo, seq: to });
		if (event === undefined) to = middle;
		else if (event.publishedAt < time) from = event.seq + 1;
		else {
			found = event.seq;
			to = middle;
		}
	}
	return found;
}
