/**
 * Once a webhook is deleted, no lane keeps the events of its attempts in flight, so retention may delete them. Nothing may
 * be logged or scheduled for a deleted event: a row without its event can't be read.
 */
import { numberColumns, type Session, sql } from "../connection/session.ts";
import { numbered } from "../log/log.ts";
import { pendingRetry } from "./lanes.ts";
import { type DeliveryNumbers, type Lanes, laneOf } from "./settle-rows.ts";

/**
 * Finds the deliveries whose event has been deleted, or even their webhook. A pending retry keeps both. The other events
 * are updated without a change: a sweep that read the database before this transaction then conflicts with it, and reads
 * again. A lock isn't enough, because the sweep would wait for it and then delete them.
 */
const KEEP = sql(`
	WITH loose AS MATERIALIZED (
		SELECT g.project_no, g.webhook_no, g.seq
		FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS g (project_no, webhook_no, seq)
			LEFT JOIN LATERAL (
				SELECT seq FROM posthorn.retries ${pendingRetry("g.project_no", "g.seq", "g.webhook_no")}
			) pending ON true
		WHERE pending.seq IS NULL
	), kept AS (
		UPDATE posthorn.events e SET published_at = e.published_at
		FROM (SELECT DISTINCT project_no, seq FROM loose ORDER BY project_no, seq) one
			CROSS JOIN LATERAL (SELECT ctid FROM posthorn.events ${numbered("one.project_no", "one.seq")}) event
		WHERE e.ctid = event.ctid
		RETURNING e.project_no, e.seq
	)
	SELECT l.project_no, l.webhook_no, l.seq
	FROM loose l
		LEFT JOIN kept ON kept.project_no = l.project_no AND kept.seq = l.seq
		LEFT JOIN LATERAL (
			SELECT w.no FROM posthorn.webhooks w WHERE w.project_no = l.project_no AND w.no = l.webhook_no LIMIT 1
		) webhook ON true
	WHERE kept.seq IS NULL OR webhook.no IS NULL`);

/**
 * Keeps the events of deleted webhooks' deliveries until the transaction ends.
 *
 * @returns whether a delivery's event is gone already
 */
export async function keepEvents(
	c: Session,
	deliveries: readonly DeliveryNumbers[],
	lanes: Lanes,
): Promise<(delivery: DeliveryNumbers) => boolean> {
	const loose = new Map(deliveries.filter((each) => !lanes.has(laneOf(each))).map((each) => [keyOf(each), each]));
	if (loose.size === 0) return () => false;
	const rows = await c.rows<{ project_no: number; webhook_no: number; seq: number }>(
		KEEP,
		...numberColumns([...loose.values()], "projectNo", "webhookNo", "seq"),
	);
	const gone = new Set(
		rows.map(({ project_no: projectNo, webhook_no: webhookNo, seq }) => keyOf({ projectNo, webhookNo, seq })),
	);
	return (delivery) => gone.has(keyOf(delivery));
}

const keyOf = (delivery: DeliveryNumbers): string => `${laneOf(delivery)}/${delivery.seq}`;
