import { statusOf } from "../../shared/attempt-codes.ts";
import type { Standing } from "../../shared/delivery.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";

const STANDING = sql(`
	SELECT r.attempt AS waiting_attempt, r.replay AS waiting_replay, r.due_at, a.attempt, a.replay, a.status,
		($3 > l.position OR $3 = ANY (l.open)) AND EXISTS (
			SELECT FROM posthorn.subscriptions s
			WHERE s.project_no = $1 AND s.webhook_no = $2 AND s.type = $4 AND s.from_seq < $3
		) AS in_lane
	FROM posthorn.lanes l
		-- As a range with its order, so that the primary key is taken without statistics, too.
		LEFT JOIN LATERAL (
			SELECT attempt, replay, due_at FROM posthorn.retries
			WHERE project_no = $1 AND (seq, webhook_no) BETWEEN ($3, $2) AND ($3, $2) ORDER BY seq, webhook_no LIMIT 1
		) r ON true
		LEFT JOIN LATERAL (
			SELECT attempt, replay, status FROM posthorn.attempts
			WHERE project_no = $1 AND seq = $3 AND webhook_no = $2 ORDER BY replay DESC, attempt DESC LIMIT 1
		) a ON true
	WHERE l.project_no = $1 AND l.webhook_no = $2`);

/** An event as deliveries refer to it. */
export interface EventPosition {
	readonly seq: number;
	/** The code of its type. */
	readonly type: number;
}

const FIND_EVENT = sql("SELECT seq, type FROM posthorn.events WHERE project_no = $1 AND id = $2");

export async function findEventPosition(c: Session, projectNo: number, eventId: string): Promise<EventPosition | null> {
	const row = await c.row<{ seq: number; type: number }>(FIND_EVENT, projectNo, eventId);
	return row === undefined ? null : { seq: row.seq, type: row.type };
}

/** Null if the event was never sent or due to this webhook, or if the webhook is deleted. */
export async function standingOf(
	c: Session,
	projectNo: number,
	webhookNo: number,
	event: EventPosition,
): Promise<Standing | null> {
	const row = await c.row(STANDING, projectNo, webhookNo, event.seq, event.type);
	if (row === undefined) return null;
	if (row.due_at !== null)
		return {
			kind: "queued",
			attempt: row.waiting_attempt as number,
			replay: row.waiting_replay as number,
			dueAt: c.offset.toNode(row.due_at as number),
		};
	if (row.status !== null)
		return {
			kind: "over",
			attempt: row.attempt as number,
			replay: row.replay as number,
			status: statusOf(row.status),
		};
	return row.in_lane === true ? { kind: "in_lane" } : null;
}
