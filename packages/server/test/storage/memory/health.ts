import {
	isClosing,
	MAX_FAILED_IN_A_ROW,
	MAX_TESTS_WAITING,
	type Params,
	type Result,
	type WaitingRetry,
	type WebhookHealth,
} from "../../../src/storage/port.ts";
import { type IdRange, idRange, QUEUE_CODE, queueOf, STATUS_CODE } from "../../../src/storage/shared/deliveries.ts";
import { CLOSED, MINUTE } from "../../../src/storage/shared/stats.ts";
import { toSummary } from "./attempt-rows.ts";
import type { MemoryNode } from "./node.ts";
import { compareText, take } from "./ordered.ts";
import { findLive, liveWebhooks } from "./registry.ts";
import { queueHeads, walkQueue } from "./retries.ts";
import type { AttemptRow } from "./rows.ts";

export function readHealth(node: MemoryNode, p: Params<"readHealth">): WebhookHealth[] {
	const { projectId, since, until, webhookIds } = p;
	const project = node.database.project(projectId);
	if (project === undefined) return [];
	const wanted = liveWebhooks(node, project.no).filter(({ id }) => webhookIds?.includes(id) ?? true);
	const recent = countBetween(node, project.no, since, until);
	const tests = countTests(node, project.no);
	return wanted.map(({ no, id }) => {
		const { retriesWaiting, deadLetters } = node.tables.lanes.get(no)!;
		const due = queueHeads(node, no).map(({ dueAt }) => dueAt);
		const nextAt = due.length === 0 ? null : node.offset.toNode(Math.min(...due));
		const waiting = { count: retriesWaiting, tests: tests.get(no) ?? 0, nextAt };
		return {
			webhookId: id,
			...readOutcomes(node, no, idRange({ until })),
			recent: recent.get(no) ?? NONE,
			waiting,
			deadLetters,
		};
	});
}

/** By webhook. */
function countTests({ tables }: MemoryNode, projectNo: number): ReadonlyMap<number, number> {
	const keyAt = (seq: number) => ({ projectNo, seq, webhookNo: 0 });
	const tests = take(tables.retries.by.event.ascending(keyAt(Number.NEGATIVE_INFINITY), keyAt(0)), MAX_TESTS_WAITING);
	return new Map([...Map.groupBy(tests, ({ webhookNo }) => webhookNo)].map(([no, rows]) => [no, rows.length]));
}

const isCounted = ({ seq, entry }: AttemptRow): boolean => seq > 0 && !isClosing(entry.errorCode);

function readOutcomes(
	node: MemoryNode,
	webhookNo: number,
	{ to }: IdRange,
): Pick<WebhookHealth, "lastAttempt" | "failingSince" | "failedInARow" | "lastDeliveredAt"> {
	const { webhook: byWebhook } = node.tables.attempts.by;
	const ofStatus = (status: number, from: string): AttemptRow[] => [
		...byWebhook.ascending({ webhookNo, status, id: from }, { webhookNo, status, id: to }),
	];
	const successes = ofStatus(STATUS_CODE.delivered, "");
	const delivered = successes.findLast(isCounted);
	// All attempts after the last success failed.
	const behind = delivered === undefined ? "" : `${delivered.id} `;
	const failed = [STATUS_CODE.retrying, STATUS_CODE.failed]
		.flatMap((status) => ofStatus(status, behind))
		.filter(isCounted)
		.sort((a, b) => compareText(a.id, b.id));
	const first = failed.at(0);
	const last = failed.at(-1) ?? delivered;
	return {
		lastAttempt: last === undefined ? null : toSummary(node, last),
		failingSince: first === undefined ? null : toSummary(node, first),
		failedInARow: Math.min(failed.length, MAX_FAILED_IN_A_ROW),
		lastDeliveredAt: successes.at(-1)?.entry.startedAt ?? null,
	};
}

type Recent = WebhookHealth["recent"];

const NONE: Recent = { delivered: 0, failed: 0 };

/** By webhook. */
function countBetween(
	{ tables }: MemoryNode,
	projectNo: number,
	since: number,
	until: number = Number.POSITIVE_INFINITY,
): ReadonlyMap<number, Recent> {
	const all = new Map<number, Recent>();
	const from = { webhookNo: 0, status: 0, responseClass: Number.NEGATIVE_INFINITY };
	const keyAt = (at: number) => ({ projectNo, grain: MINUTE, at, ...from });
	for (const row of tables.stats.by.key.ascending(keyAt(since / MINUTE), keyAt(until / MINUTE))) {
		if (row.responseClass === CLOSED) continue;
		const { delivered, failed } = all.get(row.webhookNo) ?? NONE;
		const isDelivered = row.status === STATUS_CODE.delivered;
		const more = isDelivered ? { delivered: delivered + row.n, failed } : { delivered, failed: failed + row.n };
		all.set(row.webhookNo, more);
	}
	return all;
}

/** In one page. */
export function listUnattempted(
	node: MemoryNode,
	{ projectId, webhookIds, limit, after }: Params<"listUnattempted">,
): Result<"listUnattempted"> {
	const { database, tables } = node;
	const project = database.project(projectId);
	if (project === undefined) return { rows: [], next: null };
	const waiting = liveWebhooks(node, project.no)
		.filter(({ id }) => webhookIds?.includes(id) !== false)
		.flatMap(({ no, id }) =>
			[QUEUE_CODE.replay, QUEUE_CODE.requested].flatMap((queue) =>
				[...walkQueue(node, no, queue)].map((row) => ({ ...row, webhookId: id })),
			),
		);
	const from = after === undefined ? 0 : Number(after);
	const rows = waiting.slice(from, from + limit).map(({ projectNo, seq, webhookId, queue, attempt, replay, dueAt }) => {
		const event = tables.events.by.seq.get({ projectNo, seq })!;
		const of = { webhookId, seq, eventId: event.id, eventType: event.type, queue: queueOf(queue) };
		return { ...of, attempt, replay, dueAt: node.offset.toNode(dueAt) };
	});
	return { rows, next: from + rows.length < waiting.length ? String(from + rows.length) : null };
}

export function listWaitingRetries(
	node: MemoryNode,
	{ projectId, webhookId, limit }: Params<"listWaitingRetries">,
): WaitingRetry[] {
	const { database, tables } = node;
	const project = database.project(projectId);
	if (project === undefined) return [];
	const one = webhookId === null ? null : findLive(node, projectId, webhookId);
	const webhooks = webhookId === null ? liveWebhooks(node, project.no) : one === null ? [] : [one.webhook];
	const waiting = webhooks.flatMap(({ no, id }) =>
		Object.values(QUEUE_CODE).flatMap((queue) =>
			take(walkQueue(node, no, queue), limit).map((row) => ({ ...row, webhookId: id })),
		),
	);
	waiting.sort((a, b) => a.dueAt - b.dueAt || a.seq - b.seq);
	return waiting.slice(0, limit).map(({ projectNo, seq, webhookId: of, queue, attempt, replay, dueAt }) => {
		const event = tables.events.by.seq.get({ projectNo, seq });
		if (event === undefined) throw new Error(`Event ${seq} of project ${projectId} is pending but doesn't exist.`);
		return {
			...{ webhookId: of, seq, eventId: event.id, eventType: event.type, queue: queueOf(queue) },
			...{ attempt, replay, dueAt: node.offset.toNode(dueAt) },
		};
	});
}
