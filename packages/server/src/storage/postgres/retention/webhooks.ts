import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";
import { lockDeliveries } from "../lanes/locks.ts";
import { deleteRetries } from "../registry/webhooks.ts";

/** In the order of the index of a webhook's queues: no other one has it. */
const WAITING = `
	SELECT r.seq FROM posthorn.retries r WHERE r.project_no = w.project_no AND r.webhook_no = w.no
	ORDER BY r.queue, r.due_at, r.seq LIMIT 1`;

const WITH_RETRIES = sql(`
	SELECT w.project_no, w.no
	FROM posthorn.webhooks w CROSS JOIN LATERAL (${WAITING}) waiting
	WHERE w.deleted_at < $1 LIMIT 1`);

const DELETE = sql(`
	DELETE FROM posthorn.webhooks WHERE (project_no, no) IN (
		SELECT w.project_no, w.no
		FROM posthorn.webhooks w
			LEFT JOIN LATERAL (
				SELECT a.seq FROM posthorn.attempts a WHERE a.project_no = w.project_no AND a.webhook_no = w.no
				ORDER BY a.status, a.type, a.id LIMIT 1
			) logged ON true
			LEFT JOIN LATERAL (${WAITING}) waiting ON true
		WHERE w.deleted_at < $1 AND logged.seq IS NULL AND waiting.seq IS NULL
		LIMIT $2 FOR UPDATE OF w SKIP LOCKED
	)`);

/** Deletes the rest of webhooks deleted long ago: retries that couldn't be closed, and finally the row. */
export async function sweepDeletedWebhooks(c: Session, cutoff: number, limit: number): Promise<void> {
	const left = await c.row<{ project_no: number; no: number }>(WITH_RETRIES, cutoff);
	if (left !== undefined) {
		const held = await lockDeliveries(c, [left.project_no]);
		if (held.size > 0) await deleteRetries(c, left.project_no, left.no, limit);
	}
	await c.run(DELETE, cutoff, limit);
}
