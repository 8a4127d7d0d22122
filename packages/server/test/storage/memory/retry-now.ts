import {
	type CancelTestResult,
	cancelledMark,
	type DeliveryKey,
	type Params,
	type RetriedPage,
	type RetryNowResult,
} from "../../../src/storage/port.ts";
import { QUEUE_CODE } from "../../../src/storage/shared/deliveries.ts";
import { ringForChange } from "./alarm.ts";
import type { MemoryNode } from "./node.ts";
import { take } from "./ordered.ts";
import { findLive } from "./registry.ts";
import { walkQueue } from "./retries.ts";
import { deliveryKey, eventKey } from "./tables.ts";

function retryDelivery(node: MemoryNode, projectId: string, of: DeliveryKey, at: number): RetryNowResult {
	const { webhookId, eventId } = of;
	const found = findLive(node, projectId, webhookId);
	const event = found && node.tables.events.by.id.get(eventKey(found.project.no, eventId));
	const retry = event && node.tables.retries.get(deliveryKey(found.webhook.no, event.seq));
	if (!found || !retry) return { kind: "nothing_waits" };
	const dueAt = node.offset.toDatabase(at);
	if (retry.dueAt > dueAt) {
		node.tables.retries.put({ ...retry, dueAt });
		ringForChange(node, found.project);
	}
	return { kind: "queued", attempt: retry.attempt, replay: retry.replay };
}

export function cancelTest(
	node: MemoryNode,
	{ projectId, webhookId, eventId }: Params<"cancelTest">,
): CancelTestResult {
	const found = findLive(node, projectId, webhookId);
	const event = found && node.tables.events.by.id.get(eventKey(found.project.no, eventId));
	if (!found || !event) return "nothing_waits";
	if (event.seq > 0) return "not_a_test";
	const retry = node.tables.retries.get(deliveryKey(found.webhook.no, event.seq));
	if (!retry) return "nothing_waits";
	node.tables.events.put({ ...event, publishedAt: cancelledMark(retry.replay) });
	node.tables.retries.put({ ...retry, dueAt: 0 });
	ringForChange(node, found.project);
	return "cancelled";
}

export const retryDeliveries = (
	node: MemoryNode,
	{ projectId, deliveries, at }: Params<"retryDeliveries">,
): RetryNowResult[] => deliveries.map((one) => retryDelivery(node, projectId, one, at));

/** Takes as many as waited at the first step. */
export function retryWaiting(
	node: MemoryNode,
	{ projectId, webhookId, at, limit, after }: Params<"retryWaiting">,
): RetriedPage {
	const found = findLive(node, projectId, webhookId);
	if (found === null) return { seqs: [], next: null };
	const { project, webhook } = found;
	const dueAt = node.offset.toDatabase(at);
	const from = after ?? { dueAt, seq: Number.MAX_SAFE_INTEGER };
	const isBehind = (row: { dueAt: number; seq: number }) =>
		row.dueAt > from.dueAt || (row.dueAt === from.dueAt && row.seq > from.seq);
	const behind = () => Iterator.from(walkQueue(node, webhook.no, QUEUE_CODE.retry, from)).filter(isBehind);
	const left = after?.left ?? [...behind()].length;
	const rows = take(behind(), Math.min(limit, left));
	for (const row of rows) node.tables.retries.put({ ...row, dueAt });
	if (rows.length > 0) ringForChange(node, project);
	const last = rows.at(-1);
	const isEnd = last === undefined || rows.length < limit || rows.length === left;
	const next = isEnd ? null : { dueAt: last.dueAt, seq: last.seq, left: left - rows.length };
	return { seqs: rows.map(({ seq }) => seq), next };
}
