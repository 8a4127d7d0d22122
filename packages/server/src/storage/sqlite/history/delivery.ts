import type { AttemptStatus } from "../../port.ts";
import { statusOf } from "../../shared/attempt-codes.ts";
import type { Standing } from "../../shared/delivery.ts";
import type { Connection } from "../connection/connection.ts";
import { decodeOpen } from "../lanes/settle.ts";

/** An event as deliveries refer to it. */
export interface EventPosition {
	readonly seq: number;
	readonly type: number;
}

export function findEventPosition(c: Connection, projectNo: number, eventId: string): EventPosition | null {
	const row = c.sql("SELECT seq, type FROM events WHERE project_no = ? AND id = ?").get(projectNo, eventId);
	return row === undefined ? null : { seq: row.seq as number, type: row.type as number };
}

/** Null if the event was never sent or due to this webhook, or if the webhook is deleted. */
export function standingOf(c: Connection, projectNo: number, webhookNo: number, event: EventPosition): Standing | null {
	const lane = c.sql("SELECT position, open FROM lanes WHERE webhook_no = ?").get(webhookNo);
	if (lane === undefined) return null;
	const retry = c
		.sql("SELECT attempt, replay, due_at FROM retries WHERE project_no = ? AND seq = ? AND webhook_no = ?")
		.get(projectNo, event.seq, webhookNo);
	if (retry !== undefined)
		return {
			kind: "queued",
			attempt: retry.attempt as number,
			replay: retry.replay as number,
			dueAt: retry.due_at as number,
		};
	const newest = newestAttempt(c, projectNo, webhookNo, event.seq);
	if (newest !== null) return { kind: "over", ...newest };
	const waits = event.seq > (lane.position as number) || decodeOpen(lane.open).includes(event.seq);
	return waits && isSubscribed(c, webhookNo, event) ? { kind: "in_lane" } : null;
}

/** The last attempt of the last series, by index. */
export function newestAttempt(
	c: Connection,
	projectNo: number,
	webhookNo: number,
	seq: number,
): { attempt: number; replay: number; status: AttemptStatus } | null {
	const row = c
		.sql(`
			SELECT attempt, replay, status FROM attempts WHERE project_no = ? AND seq = ? AND webhook_no = ?
			ORDER BY replay DESC, attempt DESC LIMIT 1`)
		.get(projectNo, seq, webhookNo);
	if (row === undefined) return null;
	return { attempt: row.attempt as number, replay: row.replay as number, status: statusOf(row.status) };
}

function isSubscribed(c: Connection, webhookNo: number, event: EventPosition): boolean {
	const row = c
		.sql("SELECT 1 FROM subscriptions WHERE webhook_no = ? AND type = ? AND from_seq < ?")
		.get(webhookNo, event.type, event.seq);
	return row !== undefined;
}

/** Whether a next attempt is pending, or in flight from its queue. */
export function isQueued(c: Connection, projectNo: number, webhookNo: number, seq: number): boolean {
	const row = c
		.sql("SELECT 1 FROM retries WHERE project_no = ? AND seq = ? AND webhook_no = ?")
		.get(projectNo, seq, webhookNo);
	return row !== undefined;
}
