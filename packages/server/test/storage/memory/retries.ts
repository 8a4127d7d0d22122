import { QUEUE_CODE } from "../../../src/storage/shared/deliveries.ts";
import type { MemoryNode } from "./node.ts";
import type { RetryRow } from "./rows.ts";

const BEGIN = Number.NEGATIVE_INFINITY;
const END = Number.POSITIVE_INFINITY;

/** A webhook's queue from a position, by time and then by log order. */
export function walkQueue(
	{ tables }: MemoryNode,
	webhookNo: number,
	queue: number,
	from: { readonly dueAt: number; readonly seq: number } = { dueAt: BEGIN, seq: BEGIN },
): Iterable<RetryRow> {
	return tables.retries.by.due.ascending({ webhookNo, queue, ...from }, { webhookNo, queue, dueAt: END, seq: END });
}

/** The next attempt of each of a webhook's queues. */
export function queueHeads(node: MemoryNode, webhookNo: number): RetryRow[] {
	return Object.values(QUEUE_CODE).flatMap((queue) => {
		for (const row of walkQueue(node, webhookNo, queue)) return [row];
		return [];
	});
}

export const hasRetries = (node: MemoryNode, webhookNo: number): boolean => queueHeads(node, webhookNo).length > 0;
