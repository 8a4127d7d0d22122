/**
 * Statistics as users see them. Percentiles come from a histogram, so one may be up to a tenth above all times that it
 * stands for. Here none is above the slowest time that is known: with few attempts from the log, where users see it too,
 * otherwise from the timeout.
 */
import type { AttemptCounts, Params, Stats, Storage } from "../storage/port.ts";

type FiguresStorage = Pick<Storage, "readStats" | "listAttemptSummaries">;

export const FIGURES = {
	/** Up to this many attempts are looked up in the log. */
	few: 200,
	/** The middle of a histogram bucket is at most this many times the smallest time in it. */
	bucketError: 1.1,
} as const;

interface FiguresOptions {
	/** For attempts. */
	readonly timeoutMs: number;
	/** Whether to look at the log, too: a further read. */
	readonly fromLog: boolean;
}

export async function readFigures(
	storage: FiguresStorage,
	{ projectId, query }: Params<"readStats">,
	{ timeoutMs, fromLog }: FiguresOptions,
): Promise<Stats> {
	const stats = await storage.readStats({ projectId, query });
	const times = fromLog ? await readTimes(storage, { projectId, query }, stats) : null;
	const slowest = (from: number, until: number) =>
		times?.reduce((most, { at, ms }) => (at >= from && at < until ? Math.max(most, ms) : most), 0) ?? null;
	const limited = <Counts extends AttemptCounts>(counts: Counts, from: number, until: number): Counts => {
		const limit = (ms: number | null) => (ms === null ? null : atMost(ms, slowest(from, until), timeoutMs));
		return { ...counts, p50Ms: limit(counts.p50Ms), p95Ms: limit(counts.p95Ms) };
	};
	return {
		buckets: stats.buckets.map((bucket) => limited(bucket, bucket.at, bucket.at + query.stepMs)),
		total: limited(stats.total, query.since, query.until),
	};
}

/** @param slowest null if it isn't known; then attempts may have begun with a longer timeout than the current one */
function atMost(ms: number, slowest: number | null, timeoutMs: number): number {
	if (slowest !== null) return Math.min(ms, slowest);
	return ms <= timeoutMs * FIGURES.bucketError ? Math.min(ms, timeoutMs) : ms;
}

/** The attempts that were counted; null if there are too many, or if the log has others by now. */
async function readTimes(
	storage: FiguresStorage,
	{ projectId, query: { since, until, webhookId } }: Params<"readStats">,
	{ total: { delivered, retrying, failed } }: Stats,
): Promise<readonly { readonly at: number; readonly ms: number }[] | null> {
	const count = delivered + retrying + failed;
	if (count === 0 || count > FIGURES.few) return null;
	const filter = { since, until, webhookIds: webhookId === undefined ? undefined : [webhookId] };
	const page = await storage.listAttemptSummaries({ projectId, filter, page: { limit: FIGURES.few } });
	const counted = page.rows.filter(({ seq }) => seq > 0);
	if (page.next !== null || counted.length !== count) return null;
	return counted.map(({ startedAt, responseMs }) => ({ at: startedAt, ms: Math.max(responseMs, 1) }));
}
