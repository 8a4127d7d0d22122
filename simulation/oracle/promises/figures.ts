/** At the end: the service's statistics equal a recount. */

import type { Attempt, AttemptCounts, NewAttempt, Stats, Storage } from "../../../packages/server/src/storage/port.ts";
import { isClosing, MAX_FAILED_IN_A_ROW } from "../../../packages/server/src/storage/port.ts";
import type { About, Witness } from "../check.ts";
import { type Delivery, isFirst, isWanted, type LedgerProject, type LedgerWebhook, lastOf } from "../ledger.ts";

export const FIGURES = "statistics equal a recount";

const HOUR_MS = 3_600_000;
const PAGE = { limit: 500, maxBytes: 64 * 2 ** 20 };
/** Buckets of statistics that one call reads at most. */
const MAX_BUCKETS = 400;

/** What a webhook's figures must be. */
interface Count {
	/** Log entries, oldest first by id. */
	readonly entries: readonly NewAttempt[];
	readonly deadLetters: number;
	readonly waiting: readonly Delivery[];
	readonly backlog: readonly Delivery[];
	/** May be in the backlog: published while their type was being added. */
	readonly undecided: readonly Delivery[];
}

/** @param now by the clock of a node that is up */
export async function checkFigures(witness: Witness, storage: Storage, now: number): Promise<void> {
	const { ledger } = witness;
	const none = { webhooks: 0, backlog: 0, pausedBacklog: 0, retriesWaiting: 0, deadLetters: 0 };
	const gauges = { projects: ledger.projects.size, ...none };
	let oldestAt: number | null = null;
	for (const project of ledger.projects.values()) {
		const listed = await checkLog(witness, storage, project);
		const counts = new Map([...project.webhooks.values()].map((webhook) => [webhook, countOf(webhook, listed)]));
		const backlogs = await checkBacklogs(witness, storage, project, counts);
		for (const [webhook, count] of counts) {
			if (webhook.isDeleted) continue;
			const backlog = backlogs.get(webhook.id)!;
			gauges.webhooks += 1;
			gauges.backlog += backlog.length;
			gauges.retriesWaiting += count.waiting.length;
			gauges.deadLetters += count.deadLetters;
			if (webhook.status === "paused") gauges.pausedBacklog += backlog.length;
			else for (const { event } of backlog) oldestAt = Math.min(oldestAt ?? event.publishedAt, event.publishedAt);
		}
		await checkHealth(witness, storage, project, counts);
		await checkStats(witness, storage, project, now);
	}
	const { oldestAt: shownOldestAt, ...shown } = await storage.gauges();
	equal(witness, {}, "the gauges", shown, gauges);
	// The first of a log need not be the oldest where clocks differ.
	if (witness.disagreementMs() === 0 && !witness.facts.manyNodes)
		equal(witness, {}, "the oldest pending event", shownOldestAt, oldestAt);
}

/** Every attempt that was settled is in the log, as it was settled; and nothing else. */
async function checkLog(witness: Witness, storage: Storage, project: LedgerProject): Promise<Map<string, NewAttempt>> {
	const listed = new Map<string, NewAttempt>();
	const settled = new Map<string, NewAttempt>();
	for (const { deliveries } of project.webhooks.values())
		for (const { attempts } of deliveries.values()) for (const attempt of attempts) settled.set(attempt.id, attempt);
	let before: string | null = "";
	while (before !== null) {
		const page = { ...PAGE, ...(before !== "" && { before }) };
		const { rows, next }: { rows: Attempt[]; next: string | null } = await storage.listAttempts({
			projectId: project.id,
			filter: {},
			page,
		});
		for (const row of rows) {
			const about = { projectId: project.id, webhookId: row.webhookId, eventId: row.eventId };
			const attempt = settled.get(row.id);
			if (!attempt) witness.broken(about, `the log has entry ${row.id}, which was never settled`);
			else if (SETTLED.some((name) => row[name] !== attempt[name]))
				equal(witness, about, `log entry ${row.id}`, plain(row), plain(attempt));
			if (listed.has(row.id)) witness.broken(about, `the log lists entry ${row.id} twice`);
			listed.set(row.id, row);
		}
		before = next;
	}
	for (const { id, startedAt, webhookId } of settled.values())
		if (!listed.has(id) && startedAt >= witness.ledger.attemptsSince)
			witness.broken({ projectId: project.id, webhookId }, `attempt ${id} was settled, and the log does not have it`);
	return listed;
}

/** The fields of a log entry that must be as they were settled. */
const SETTLED = [
	...(["id", "webhookId", "seq", "attempt", "replay", "status", "statusCode", "errorCode"] as const),
	...(["startedAt", "responseMs", "url", "nextRetryAt"] as const),
] as const;

function plain(attempt: NewAttempt) {
	return Object.fromEntries(SETTLED.map((name) => [name, attempt[name]]));
}

function countOf({ deliveries, open }: LedgerWebhook, listed: ReadonlyMap<string, NewAttempt>): Count {
	const entries: NewAttempt[] = [];
	let deadLetters = 0;
	for (const delivery of deliveries.values()) {
		for (const { id } of delivery.attempts) {
			const entry = listed.get(id);
			if (entry) entries.push(entry);
		}
		const last = lastOf(delivery);
		const isDead = delivery.next === null && last?.status === "failed" && listed.has(last.id);
		// Failed tests need no decision.
		if (isDead && delivery.event.seq > 0) deadLetters += 1;
	}
	entries.sort((a, b) => (a.id < b.id ? -1 : 1));
	const waiting = [...open.values()].filter((delivery) => !isFirst(delivery));
	const firsts = [...open.values()].filter(isFirst);
	const backlog = firsts.filter(({ dropped }) => !dropped);
	const undecided = firsts.filter((delivery) => delivery.dropped && isWanted(delivery));
	return { entries, deadLetters, waiting, backlog, undecided };
}

async function checkBacklogs(
	witness: Witness,
	storage: Storage,
	project: LedgerProject,
	counts: ReadonlyMap<LedgerWebhook, Count>,
): Promise<ReadonlyMap<string, readonly Delivery[]>> {
	const live = [...counts].filter(([{ isDeleted }]) => !isDeleted);
	const backlogs = await storage.readBacklogs({ projectId: project.id, webhookIds: live.map(([{ id }]) => id) });
	return new Map(
		live.map(([{ id: webhookId }, count]) => {
			const shown = backlogs.get(webhookId) ?? { events: 0, oldestSeq: null, oldestAt: null };
			const backlog = backlogOf(count, shown.events);
			const oldest = backlog[0]?.event;
			const expected = {
				events: backlog.length,
				oldestSeq: oldest?.seq ?? null,
				oldestAt: oldest?.publishedAt ?? null,
			};
			equal(witness, { projectId: project.id, webhookId }, "the backlog", shown, expected);
			return [webhookId, backlog];
		}),
	);
}

/** In log order. The lane has passed the undecided events up to some number, and has the others before it. */
function backlogOf({ backlog, undecided }: Count, shown: number): Delivery[] {
	const bySeq = (a: Delivery, b: Delivery): number => a.event.seq - b.event.seq;
	const passed = Math.max(0, undecided.length - Math.max(0, shown - backlog.length));
	return [...backlog, ...undecided.toSorted(bySeq).slice(passed)].sort(bySeq);
}

async function checkHealth(
	witness: Witness,
	storage: Storage,
	project: LedgerProject,
	counts: ReadonlyMap<LedgerWebhook, Count>,
): Promise<void> {
	const healths = new Map(
		(await storage.readHealth({ projectId: project.id, since: 0 })).map((health) => [health.webhookId, health]),
	);
	for (const [{ id: webhookId, isDeleted }, { entries, deadLetters, waiting }] of counts) {
		const about = { projectId: project.id, webhookId };
		const health = healths.get(webhookId);
		if (isDeleted !== (health === undefined)) witness.broken(about, "it is listed though deleted, or not listed");
		if (!health) continue;
		// Test events and closed deliveries don't matter to health.
		const telling = entries.filter(({ seq, errorCode }) => seq > 0 && !isClosing(errorCode));
		const delivered = telling.findLastIndex(({ status }) => status === "delivered");
		const told = {
			lastAttempt: health.lastAttempt?.id ?? null,
			failingSince: health.failingSince?.id ?? null,
			failedInARow: health.failedInARow,
			lastDeliveredAt: health.lastDeliveredAt,
			waiting: health.waiting.count,
			testsWaiting: health.waiting.tests,
			deadLetters: health.deadLetters,
		};
		equal(witness, about, "the health", told, {
			lastAttempt: telling.at(-1)?.id ?? null,
			failingSince: telling[delivered + 1]?.id ?? null,
			failedInARow: Math.min(telling.length - 1 - delivered, MAX_FAILED_IN_A_ROW),
			// Here test events count, too.
			lastDeliveredAt: entries.findLast(({ status }) => status === "delivered")?.startedAt ?? null,
			waiting: waiting.length,
			testsWaiting: waiting.filter(({ event }) => event.seq < 0).length,
			deadLetters,
		});
		const { count } = await storage.countAttempts({
			projectId: project.id,
			filter: { webhookIds: [webhookId] },
			max: 1_000_000,
		});
		equal(witness, about, "the number of log entries", count, entries.length);
		const queued = await storage.listWaitingRetries({ projectId: project.id, webhookId, limit: 100_000 });
		equal(witness, about, "the number of waiting retries", queued.length, waiting.length);
	}
}

/** Percentiles: the share of attempts, and the name of its response time. */
const PERCENTILES = [
	[0.5, "p50Ms"],
	[0.95, "p95Ms"],
] as const;
/** Times are counted in classes, each so much wider than the one before (shared/response-times.ts). */
const CLASS = 2 ** (1 / 4);
const MINUTE_MS = 60_000;

/** By hours, for as far back as the log is complete; by minutes, up to now; and of one webhook. */
async function checkStats(witness: Witness, storage: Storage, project: LedgerProject, now: number): Promise<void> {
	const complete = Math.max(witness.ledger.attemptsSince, now - witness.facts.retentionMs);
	const [first] = [...project.webhooks.values()].filter(({ deliveries }) => deliveries.size > 0);
	const queries = [
		{ stepMs: HOUR_MS },
		{ stepMs: MINUTE_MS },
		...(first ? [{ stepMs: HOUR_MS, webhookId: first.id }] : []),
	];
	for (const { stepMs, ...of } of queries) {
		const until = (Math.floor(now / stepMs) + 2) * stepMs;
		const since = Math.max(Math.ceil(complete / stepMs) * stepMs, until - MAX_BUCKETS * stepMs);
		if (since >= until) continue;
		const expected = attemptsBy(project, stepMs, of.webhookId);
		const stats: Stats = await storage.readStats({ projectId: project.id, query: { since, until, stepMs, ...of } });
		for (const bucket of stats.buckets) {
			const attempts = expected.get(bucket.at) ?? [];
			// Most buckets are empty: worlds are shorter than what the statistics show.
			if (attempts.length === 0 && isEmpty(bucket)) continue;
			checkCounts(witness, project, `of ${new Date(bucket.at).toISOString()}`, bucket, attempts);
		}
		equal(witness, { projectId: project.id }, "the number of buckets", stats.buckets.length, (until - since) / stepMs);
		const all = stats.buckets.flatMap(({ at }) => expected.get(at) ?? []);
		checkCounts(witness, project, "in all", stats.total, all);
	}
}

/** By the beginning of the bucket. */
function attemptsBy({ webhooks }: LedgerProject, stepMs: number, webhookId?: string): Map<number, NewAttempt[]> {
	const chosen = [...webhooks.values()].filter(({ id }) => webhookId === undefined || id === webhookId);
	const attempts = chosen.flatMap(({ deliveries }) =>
		// Test events don't count.
		[...deliveries.values()].flatMap((delivery) => delivery.attempts.filter(({ seq }) => seq > 0)),
	);
	return Map.groupBy(attempts, ({ startedAt }) => Math.floor(startedAt / stepMs) * stepMs);
}

function isEmpty({ delivered, retrying, failed, p50Ms, p95Ms }: AttemptCounts): boolean {
	return delivered === 0 && retrying === 0 && failed === 0 && p50Ms === null && p95Ms === null;
}

function checkCounts(
	witness: Witness,
	{ id }: LedgerProject,
	what: string,
	told: AttemptCounts,
	attempts: readonly NewAttempt[],
): void {
	const about = { projectId: id };
	const { delivered, retrying, failed } = told;
	const ended = { delivered: 0, retrying: 0, failed: 0 };
	for (const { status } of attempts) ended[status] += 1;
	if (delivered !== ended.delivered || retrying !== ended.retrying || failed !== ended.failed)
		equal(witness, about, `the statistics ${what}`, { delivered, retrying, failed }, ended);
	const times = attempts
		.flatMap(({ sent, responseMs }) => (sent === null ? [] : [Math.max(responseMs, 1)]))
		.sort((a, b) => a - b);
	for (const [share, name] of PERCENTILES) {
		const right = times[Math.ceil(times.length * share) - 1] ?? null;
		const value = told[name];
		const isRight =
			right === null || value === null ? right === value : value >= right / CLASS - 1 && value <= right * CLASS + 1;
		if (!isRight) witness.broken(about, `${name} ${what}: got ${value}, expected about ${right}`);
	}
}

function equal(witness: Witness, about: About, what: string, told: unknown, expected: unknown): void {
	const [one, other] = [JSON.stringify(told), JSON.stringify(expected)];
	if (one !== other) witness.broken(about, `${what}: got ${one}, expected ${other}`);
}
