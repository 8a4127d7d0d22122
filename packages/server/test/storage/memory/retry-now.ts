import {
	type CancelTestResult,
	cancelledMark,
	type DeliveryKey,
	type Params,
	type Result,
	type RetryNowResult,
	type RetryPosition,
} from "../../../src/storage/port.ts";
import { QUEUE_CODE } from "../../../src/storage/shared/deliveries.ts";
import { wakeForChange } from "./alarm.ts";
import type { MemoryNode } from "./node.ts";
import { take } from "./ordered.ts";
import { findChangeable } from "./registry.ts";
import { walkQueue } from "./retries.ts";
import type { WebhookRow } from "./rows.ts";
import { deliveryKey, eventKey } from "./tables.ts";

type Early = Pick<Params<"retryDeliveries">, "projectId" | "at" | "by">;

function retryDelivery(node: MemoryNode, of: DeliveryKey, { projectId, at, by }: Early): RetryNowResult {
	const { webhookId, eventId } = of;
	const found = findChangeable(node, projectId, webhookId, by);
	const event = found && node.tables.events.by.id.get(eventKey(found.project.no, eventId));
	const retry = event && node.tables.retries.get(deliveryKey(found.webhook.no, event.seq));
	if (!found || !retry) return { kind: "nothing_waits" };
	const dueAt = node.offset.toDatabase(at);
	if (retry.dueAt > dueAt) {
		node.tables.retries.put({ ...retry, dueAt });
		wakeForChange(node, found.project);
	}
	return { kind: "queued", attempt: retry.attempt, replay: retry.replay };
}

export function cancelTest(
	node: MemoryNode,
	{ projectId, webhookId, eventId, by }: Params<"cancelTest">,
): CancelTestResult {
	const found = findChangeable(node, projectId, webhookId, by);
	const event = found && node.tables.events.by.id.get(eventKey(found.project.no, eventId));
	if (!found || !event) return "nothing_waits";
	if (event.seq > 0) return "not_a_test";
	const retry = node.tables.retries.get(deliveryKey(found.webhook.no, event.seq));
	if (!retry || retry.dueAt === 0) return "nothing_waits";
	node.tables.events.put({ ...event, publishedAt: cancelledMark(retry.replay) });
	node.tables.retries.put({ ...retry, dueAt: 0 });
	wakeForChange(node, found.project);
	return "cancelled";
}

export const retryDeliveries = (
	node: MemoryNode,
	{ deliveries, ...early }: Params<"retryDeliveries">,
): RetryNowResult[] => deliveries.map((one) => retryDelivery(node, one, early));

/** A webhook's retries after this position. */
const behind = (node: MemoryNode, webhook: WebhookRow, from: RetryPosition) =>
	Iterator.from(walkQueue(node, webhook.no, QUEUE_CODE.retry, from)).filter(
		({ dueAt, seq }) => dueAt > from.dueAt || (dueAt === from.dueAt && seq > from.seq),
	);

export function retryWaiting(
	node: MemoryNode,
	{ projectId, webhookId, at, limit, after, by }: Params<"retryWaiting">,
): Result<"retryWaiting"> {
	const found = findChangeable(node, projectId, webhookId, by);
	if (found === null) return { seqs: [], next: null };
	const { project, webhook } = found;
	const dueAt = node.offset.toDatabase(at);
	const rows = take(behind(node, webhook, after ?? { dueAt, seq: Number.MAX_SAFE_INTEGER }), limit);
	for (const row of rows) node.tables.retries.put({ ...row, dueAt });
	if (rows.length > 0) wakeForChange(node, project);
	const last = rows.at(-1);
	const next = last === undefined || rows.length < limit ? null : { dueAt: last.dueAt, seq: last.seq };
	return { seqs: rows.map(({ seq }) => seq), next };
}

export function countRetries(
	node: MemoryNode,
	{ projectId, webhookId, at, limit, after }: Params<"countRetries">,
): Result<"countRetries"> {
	const project = node.database.project(projectId);
	const webhook = project && node.database.webhook(project.no, webhookId);
	if (webhook === undefined) return { count: 0, next: null };
	const from = after ?? { dueAt: node.offset.toDatabase(at), seq: Number.MAX_SAFE_INTEGER };
	const rows = take(behind(node, webhook, from), limit);
	const last = rows.at(-1);
	const next = last === undefined || rows.length < limit ? null : { dueAt: last.dueAt, seq: last.seq };
	return { count: rows.length, next };
}
