import type { AttemptCounts, Params, Stats, StatsQuery } from "../../../src/storage/port.ts";
import { statusOf } from "../../../src/storage/shared/attempt-codes.ts";
import { ResponseTimes } from "../../../src/storage/shared/response-times.ts";
import type { MemoryNode } from "./node.ts";
import type { StatRow } from "./rows.ts";
import { HOUR, MINUTE } from "./stats-counts.ts";

const MAX_BUCKETS = 400;

export function readStats(node: MemoryNode, { projectId, query }: Params<"readStats">): Stats {
	const { since, until, stepMs } = query;
	const count = (until - since) / stepMs;
	if (!Number.isInteger(count) || count < 0 || count > MAX_BUCKETS || since % stepMs !== 0 || stepMs % MINUTE !== 0)
		throw new RangeError(`From ${since} to ${until} by steps of ${stepMs} ms are no buckets that statistics come in.`);
	const project = node.database.project(projectId);
	const webhook = project && query.webhookId !== undefined && node.database.webhook(project.no, query.webhookId);
	const tallies = Array.from({ length: count }, () => new Tally());
	const total = new Tally();
	let seqs: number[] | null = null;
	if (project && webhook !== undefined) {
		tally(node, project.no, webhook ? webhook.no : null, query, (at) => tallies[Math.floor((at - since) / stepMs)]!);
		for (const each of tallies) total.addAll(each);
		const times = [...tallies.map((_, i) => since + i * stepMs), until];
		if (!webhook) seqs = times.map((time) => firstSeqAt(node, project.no, time));
	}
	const events = (from: number, to: number): number => (seqs === null ? 0 : seqs[to]! - seqs[from]!);
	return {
		buckets: tallies.map((each, i) => ({ at: since + i * stepMs, events: events(i, i + 1), ...each.counts() })),
		total: { events: events(0, count), ...total.counts() },
	};
}

function tally(
	{ tables }: MemoryNode,
	projectNo: number,
	webhookNo: number | null,
	{ since, until, stepMs }: StatsQuery,
	bucketOf: (at: number) => Tally,
): void {
	const grain = stepMs % HOUR === 0 ? HOUR : MINUTE;
	const place = (time: number) => ({
		...{ projectNo, grain, at: time / grain },
		...{ webhookNo: 0, status: 0, responseClass: Number.NEGATIVE_INFINITY },
	});
	for (const row of tables.stats.by.place.ascending(place(since), place(until)))
		if (webhookNo === null || row.webhookNo === webhookNo) bucketOf(row.at * grain).add(row);
}

/** The first event appended at this time or later, or the number that comes next. Times rise with `seq`. */
function firstSeqAt({ tables }: MemoryNode, projectNo: number, time: number): number {
	const end = tables.logs.get(projectNo)!.lastSeq + 1;
	let [from, to, found] = [1, end, end];
	while (from < to) {
		const middle = Math.floor((from + to) / 2);
		// Numbers may be missing where retention took the events.
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

/** The attempts of a bucket. */
class Tally {
	readonly #ended = { delivered: 0, retrying: 0, failed: 0 };
	readonly #times = new ResponseTimes();

	add({ status, responseClass, n }: StatRow): void {
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
