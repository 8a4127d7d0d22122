import type { Params, WaitingRetry } from "../../port.ts";
import { QUEUE_CODE, queueOf } from "../../shared/attempt-codes.ts";
import { withoutNul } from "../connection/literals.ts";
import { findProject } from "../connection/names.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";

const CODES = Object.values(QUEUE_CODE);

/** The first of each queue, and the first among those. */
const LIST = sql(`
	SELECT r.webhook_id, r.queue, r.attempt, r.replay, r.due_at, r.seq, e.id AS event_id,
		(SELECT t.name FROM posthorn.event_types t WHERE t.code = e.type) AS event_type
	FROM (
		SELECT w.id AS webhook_id, q.queue, r.attempt, r.replay, r.due_at, r.seq
		FROM posthorn.webhooks w
			CROSS JOIN (VALUES ${CODES.map((code) => `(${code}::smallint)`).join(", ")}) AS q (queue)
			CROSS JOIN LATERAL (
				SELECT attempt, replay, due_at, seq FROM posthorn.retries
				WHERE project_no = $1 AND webhook_no = w.no AND queue = q.queue ORDER BY due_at, seq LIMIT $3
			) r
		WHERE w.project_no = $1 AND w.deleted_at IS NULL AND ($2::text IS NULL OR w.id = $2)
		ORDER BY r.due_at, r.seq LIMIT $3
	) r LEFT JOIN LATERAL (
		SELECT id, type FROM posthorn.events WHERE project_no = $1 AND seq = r.seq LIMIT 1
	) e ON true
	ORDER BY r.due_at, r.seq`);

export async function listWaitingRetries(
	c: Session,
	{ projectId, webhookId, limit }: Params<"listWaitingRetries">,
): Promise<WaitingRetry[]> {
	const project = await findProject(c, projectId);
	if (project === null) return [];
	const rows = await c.rows(LIST, project, webhookId && withoutNul(webhookId), limit);
	return rows.map((row) => {
		if (row.event_id === null)
			throw new Error(`Event ${row.seq} of project ${projectId} is pending but doesn't exist.`);
		return {
			webhookId: row.webhook_id as string,
			eventId: row.event_id as string,
			eventType: row.event_type as string,
			queue: queueOf(row.queue),
			attempt: row.attempt as number,
			replay: row.replay as number,
			dueAt: c.offset.toNode(row.due_at as number),
		};
	});
}
