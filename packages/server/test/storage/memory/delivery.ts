import { attempting, type DeliveryProgress, ended, statusOf } from "../../../src/storage/shared/deliveries.ts";
import type { MemoryNode } from "./node.ts";
import type { AttemptRow, EventRow, LaneRow } from "./rows.ts";
import { deliveryKey } from "./tables.ts";

const BEGIN = Number.NEGATIVE_INFINITY;

/** Null if the event was never sent or due to this webhook, or if the webhook is deleted. */
export function progressOf(node: MemoryNode, webhookNo: number, event: EventRow): DeliveryProgress | null {
	const lane = node.tables.lanes.get(webhookNo);
	if (lane === undefined) return null;
	const retry = node.tables.retries.get(deliveryKey(webhookNo, event.seq));
	if (retry !== undefined) {
		const { attempt, replay, dueAt } = retry;
		return attempting(attempt, replay, node.offset.toNode(dueAt));
	}
	const newest = newestAttempt(node, webhookNo, event);
	if (newest !== undefined) {
		const { attempt, replay, status, dismissedAt } = newest;
		return ended({ attempt, replay, status: statusOf(status) }, dismissedAt !== null);
	}
	return waitsIn(lane, event) ? attempting(1, 0, null) : null;
}

/** Whether a lane has yet to attempt an event. */
export function waitsIn({ subscriptions, position, open }: LaneRow, { type, seq }: EventRow): boolean {
	const from = subscriptions.get(type);
	return seq > 0 && from !== undefined && seq > from && (seq > position || open.includes(seq));
}

/** A delivery's attempts, newest first. */
export function attemptsOf(
	{ tables }: MemoryNode,
	webhookNo: number,
	{ projectNo, seq }: Pick<EventRow, "projectNo" | "seq">,
): Iterator<AttemptRow> & Iterable<AttemptRow> {
	const of = { projectNo, seq, attempt: BEGIN, replay: BEGIN };
	return tables.attempts.by.delivery.descending({ ...of, webhookNo }, { ...of, webhookNo: webhookNo + 1 });
}

/** The last attempt of the last series. */
export function newestAttempt(
	node: MemoryNode,
	webhookNo: number,
	event: Pick<EventRow, "projectNo" | "seq">,
): AttemptRow | undefined {
	for (const row of attemptsOf(node, webhookNo, event)) return row;
	return undefined;
}

/** Whether this is the newest attempt of a delivery with nothing pending, which wasn't dismissed. */
export function endsDelivery(node: MemoryNode, row: AttemptRow): boolean {
	if (row.dismissedAt !== null) return false;
	if (node.tables.retries.get(deliveryKey(row.webhookNo, row.seq)) !== undefined) return false;
	return newestAttempt(node, row.webhookNo, row)?.no === row.no;
}
