import type { EventSweepStep, Params, SweepStep } from "../../../src/storage/port.ts";
import { BEYOND_ALL_IDS, QUEUE_CODE, STATUS_CODE } from "../../../src/storage/shared/deliveries.ts";
import { wakeForChange } from "./alarm.ts";
import { ALL_STATUSES } from "./attempt-walk.ts";
import { endsDelivery, waitsIn } from "./delivery.ts";
import type { MemoryNode } from "./node.ts";
import { take } from "./ordered.ts";
import { liveWebhooks } from "./registry.ts";
import { hasRetries, walkQueue } from "./retries.ts";
import type { AttemptRow, EventRow, WebhookRow } from "./rows.ts";
import { sweepStats } from "./stats-counts.ts";
import { deliveryKey } from "./tables.ts";

/** Attempts are logged when they end, so they aren't exactly in the order in which they began. */
const DISORDER_MS = 600_000;

const END = { no: Number.POSITIVE_INFINITY };

/**
 * Attempts are roughly in the order in which they began, so a pass continues until everything scanned began well after
 * the cutoff. Those of a project that another session holds stay until the next pass.
 */
export function sweepAttempts(
	node: MemoryNode,
	{ cutoff, limit, from, latest = Number.POSITIVE_INFINITY, now }: Params<"sweepAttempts">,
): SweepStep {
	const { attempts } = node.tables;
	if (from === 0) {
		sweepStats(node, cutoff, now);
		sweepDeletedWebhooks(node, cutoff, limit);
	}
	const rows = take(attempts.by.no.ascending({ no: from }, END), limit);
	const old = rows.filter(({ entry, projectNo }) => entry.startedAt < cutoff && !node.database.locks.has(projectNo));
	for (const row of old) {
		forgetDeadLetter(node, row);
		attempts.delete(row.no);
	}
	const last = rows.at(-1);
	const isRecent = (at: number): boolean => at >= cutoff + DISORDER_MS && at <= latest;
	const over = rows.length < limit || rows.every(({ entry }) => isRecent(entry.startedAt));
	return { deleted: old.length, next: over || last === undefined ? null : last.no + 1 };
}

/** Without its last attempt in the log, a delivery is no longer a dead letter. */
function forgetDeadLetter(node: MemoryNode, row: AttemptRow): void {
	const lane = node.tables.lanes.get(row.webhookNo);
	if (lane === undefined || row.status !== STATUS_CODE.failed || row.seq < 0 || !endsDelivery(node, row)) return;
	node.tables.lanes.put({ ...lane, deadLetters: Math.max(0, lane.deadLetters - 1) });
}

/** Deletes the remains of webhooks deleted long ago: retries that couldn't be closed, and finally the row. */
function sweepDeletedWebhooks(node: MemoryNode, cutoff: number, limit: number): void {
	const { webhooks, retries } = node.tables;
	const old = [...webhooks.by.deleted.ascending({ deletedAt: 0, no: 0 }, { deletedAt: cutoff, no: 0 })].filter(
		({ projectNo }) => !node.database.locks.has(projectNo),
	);
	for (const { no } of old) {
		const waiting = Object.values(QUEUE_CODE).flatMap((queue) => take(walkQueue(node, no, queue), limit));
		for (const { webhookNo, seq } of waiting) retries.delete(deliveryKey(webhookNo, seq));
	}
	for (const webhook of old) if (!isReferredTo(node, webhook)) webhooks.delete(webhook.no);
}

function isReferredTo(node: MemoryNode, { no: webhookNo }: WebhookRow): boolean {
	const isLogged = ALL_STATUSES.some((status) => {
		const of = { webhookNo, status };
		return node.tables.attempts.by.webhook.first({ ...of, id: "" }, { ...of, id: BEYOND_ALL_IDS }) !== undefined;
	});
	return isLogged || hasRetries(node, webhookNo);
}

/** Events are in the order in which they were appended, so a pass ends at the first that is recent enough. */
export function sweepEvents(
	node: MemoryNode,
	{ cutoff, limit, from, latest = Number.POSITIVE_INFINITY }: Params<"sweepEvents">,
): EventSweepStep {
	const { database, tables } = node;
	const rows = take(tables.events.by.no.ascending({ no: from }, END), limit);
	const unattempted = new Set<number>();
	let deleted = 0;
	for (const event of rows) {
		const { projectNo } = event;
		if (event.publishedAt >= cutoff || database.locks.has(projectNo)) continue;
		const waits = liveWebhooks(node, projectNo).some(({ no }) => {
			const lane = tables.lanes.get(no)!;
			return lane.open.includes(event.seq) || waitsIn(lane, event);
		});
		const due = retriesOf(node, event).map(({ dueAt }) => dueAt);
		if (waits || due.some((at) => at < cutoff)) unattempted.add(projectNo);
		if (waits || due.length > 0 || isLogged(node, event)) continue;
		tables.events.delete(event.no);
		deleted++;
	}
	const projects = [...unattempted].map((no) => tables.projects.get(no)!);
	for (const project of projects) wakeForChange(node, project);
	const last = rows.at(-1);
	const isRecent = (at: number): boolean => at >= cutoff && at <= latest;
	const over = rows.length < limit || last === undefined || isRecent(last.publishedAt);
	return { deleted, next: over ? null : last.no + 1, unattempted: projects.map(({ id }) => id) };
}

const retriesOf = ({ tables }: MemoryNode, { projectNo, seq }: EventRow) => [
	...tables.retries.by.event.ascending({ projectNo, seq, webhookNo: 0 }, { projectNo, seq: seq + 1, webhookNo: 0 }),
];

function isLogged({ tables }: MemoryNode, { projectNo, seq }: EventRow): boolean {
	const begin = { projectNo, webhookNo: 0, replay: 0, attempt: 0 };
	return tables.attempts.by.delivery.first({ ...begin, seq }, { ...begin, seq: seq + 1 }) !== undefined;
}
