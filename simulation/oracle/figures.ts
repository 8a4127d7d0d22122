/** In the end: what the service shows people is what a count from the beginning gives. */
import type { Attempt, NewAttempt, Stats, Storage } from "../../packages/server/src/storage/port.ts";
import type { About, Witness } from "./check.ts";
import { type Delivery, isFirst, type LedgerProject, type LedgerWebhook, lastOf } from "./ledger.ts";

export const FIGURES = "figures equal a recount";

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
}

/** @param now by the clock of a node that is up */
export async function checkFigures(witness: Witness, storage: Storage, now: number): Promise<void> {
	const { ledger } = witness;
	const gauges = { projects: ledger.projects.size, webhooks: 0, backlog: 0, retriesWaiting: 0, deadLetters: 0 };
	let oldestAt: number | null = null;
	for (const project of ledger.projects.values()) {
		const listed = await checkLog(witness, storage, project);
		const counts = new Map([...project.webhooks.values()].map((webhook) => [webhook, countOf(webhook, listed)]));
		for (const [webhook, count] of counts) {
			if (webhook.isDeleted) continue;
			gauges.webhooks += 1;
			gauges.backlog += count.backlog.length;
			gauges.retriesWaiting += count.waiting.length;
			gauges.deadLetters += count.deadLetters;
			for (const { event } of count.backlog) oldestAt = Math.min(oldestAt ?? event.publishedAt, event.publishedAt);
		}
		await checkBacklogs(witness, storage, project, counts);
		await checkHealth(witness, storage, project, counts);
		await checkStats(witness, storage, project, now);
	}
	const { oldestAt: toldOldestAt, ...told } = await storage.gauges();
	equal(witness, {}, "the gauges", told, gauges);
	// The first of a log need not be the oldest where clocks differ.
	if (witness.disagreementMs() === 0 && !witness.facts.manyNodes)
		equal(witness, {}, "the oldest event that waits", toldOldestAt, oldestAt);
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
		const { rows, next }: { rows: Attempt[]; next: string | null } = await storage.listAttempts(project.id, {}, page);
		for (const row of rows) {
			const about = { projectId: project.id, webhookId: row.webhookId, eventId: row.eventId };
			const attempt = settled.get(row.id);
			if (!attempt) witness.broken(about, `the log has entry ${row.id}, which was never settled`);
			else equal(witness, about, `log entry ${row.id}`, plain(row), plain(attempt));
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

function plain({
	id,
	webhookId,
	seq,
	attempt,
	replay,
	status,
	statusCode,
	errorCode,
	startedAt,
	responseMs,
	url,
	nextRetryAt,
}: NewAttempt) {
	return {
		id,
		webhookId,
		seq,
		attempt,
		replay,
		status,
		statusCode,
		errorCode,
		startedAt,
		responseMs,
		url,
		nextRetryAt,
	};
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
		if (delivery.next === null && last?.status === "failed" && listed.has(last.id)) deadLetters += 1;
	}
	entries.sort((a, b) => (a.id < b.id ? -1 : 1));
	const waiting = [...open.values()].filter((delivery) => !isFirst(delivery));
	const backlog = [...open.values()].filter((delivery) => isFirst(delivery) && !delivery.dropped);
	return { entries, deadLetters, waiting, backlog };
}

async function checkBacklogs(
	witness: Witness,
	storage: Storage,
	project: LedgerProject,
	counts: ReadonlyMap<LedgerWebhook, Count>,
): Promise<void> {
	const live = [...counts].filter(([{ isDeleted }]) => !isDeleted);
	const backlogs = await storage.readBacklogs(
		project.id,
		live.map(([{ id }]) => id),
	);
	for (const [{ id: webhookId }, { backlog }] of live) {
		const first = backlog.reduce<Delivery | null>((a, b) => (a && a.event.seq < b.event.seq ? a : b), null);
		const expected = { events: backlog.length, oldestAt: first?.event.publishedAt ?? null };
		const about = { projectId: project.id, webhookId };
		equal(witness, about, "the backlog", backlogs.get(webhookId) ?? { events: 0, oldestAt: null }, expected);
	}
}

async function checkHealth(
	witness: Witness,
	storage: Storage,
	project: LedgerProject,
	counts: ReadonlyMap<LedgerWebhook, Count>,
): Promise<void> {
	const healths = new Map((await storage.readHealth(project.id)).map((health) => [health.webhookId, health]));
	for (const [{ id: webhookId, isDeleted }, { entries, deadLetters, waiting }] of counts) {
		const about = { projectId: project.id, webhookId };
		const health = healths.get(webhookId);
		if (isDeleted !== (health === undefined)) witness.broken(about, "it is listed though deleted, or not listed");
		if (!health) continue;
		const delivered = entries.findLastIndex(({ status }) => status === "delivered");
		const told = {
			lastAttempt: health.lastAttempt?.id ?? null,
			failingSince: health.failingSince?.id ?? null,
			lastDeliveredAt: health.lastDeliveredAt,
			waiting: health.waiting.count,
			deadLetters: health.deadLetters,
		};
		equal(witness, about, "the health", told, {
			lastAttempt: entries.at(-1)?.id ?? null,
			failingSince: entries[delivered + 1]?.id ?? null,
			lastDeliveredAt: entries[delivered]?.startedAt ?? null,
			waiting: waiting.length,
			deadLetters,
		});
		const { count } = await storage.countAttempts(project.id, { webhookId }, 1_000_000);
		equal(witness, about, "the number of log entries", count, entries.length);
		const queued = await storage.listWaitingRetries(project.id, webhookId, 100_000);
		equal(witness, about, "the number of waiting retries", queued.length, waiting.length);
	}
}

/** By hours, for as far back as the log is complete. */
async function checkStats(witness: Witness, storage: Storage, project: LedgerProject, now: number): Promise<void> {
	const until = (Math.floor(now / HOUR_MS) + 2) * HOUR_MS;
	const complete =
		Math.ceil(Math.max(witness.ledger.attemptsSince, now - witness.facts.retentionMs) / HOUR_MS) * HOUR_MS;
	const since = Math.max(complete, until - MAX_BUCKETS * HOUR_MS);
	if (since >= until) return;
	const expected = new Map<number, Record<NewAttempt["status"], number>>();
	for (const { deliveries } of project.webhooks.values())
		for (const { attempts } of deliveries.values())
			for (const { startedAt, status } of attempts) {
				const at = Math.floor(startedAt / HOUR_MS) * HOUR_MS;
				const bucket = expected.get(at) ?? { delivered: 0, retrying: 0, failed: 0 };
				expected.set(at, { ...bucket, [status]: bucket[status] + 1 });
			}
	const stats: Stats = await storage.readStats(project.id, { since, until, stepMs: HOUR_MS });
	for (const { at, delivered, retrying, failed } of stats.buckets) {
		const bucket = expected.get(at) ?? { delivered: 0, retrying: 0, failed: 0 };
		const when = new Date(at).toISOString();
		equal(witness, { projectId: project.id }, `the statistics of ${when}`, { delivered, retrying, failed }, bucket);
	}
}

function equal(witness: Witness, about: About, what: string, told: unknown, expected: unknown): void {
	const [one, other] = [JSON.stringify(told), JSON.stringify(expected)];
	if (one !== other) witness.broken(about, `${what}: told ${one}, expected ${other}`);
}
