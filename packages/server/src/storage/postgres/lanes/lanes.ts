import type { LoadedLanes, Params, Retry, WaitingRetry } from "../../port.ts";
import { closingLane, laneOf, QUEUE_CODE, retryOf, waitingOf } from "../../shared/deliveries.ts";
import { findProject, findWebhook } from "../connection/names.ts";
import { type Session, sql, withoutNul } from "../connection/session.ts";
import { readHandedOver } from "../leases/handover.ts";
import type { PostgresNode } from "../node.ts";

const MARK = sql("SELECT last_seq, revision FROM posthorn.logs WHERE project_no = $1");
const lanes = (which: string) => `
	SELECT w.no, w.id, w.url, w.status, w.max_in_flight, w.sealed_digest,
		CASE WHEN w.standard_webhooks THEN w.sealed_standard_digest END AS standard_digest,
		l.position, l.open, l.skip_through
	FROM posthorn.webhooks w JOIN posthorn.lanes l ON l.project_no = w.project_no AND l.webhook_no = w.no
	WHERE w.project_no = $1 AND w.deleted_at IS NULL${which} ORDER BY w.id`;
const closing = (which: string) => `
	SELECT w.id, w.url FROM posthorn.webhooks w WHERE w.project_no = $1 AND w.closing${which} ORDER BY w.deleted_at`;
const subscriptions = (which: string) => `
	SELECT s.webhook_no, t.name, s.from_seq
	FROM posthorn.subscriptions s JOIN posthorn.event_types t ON t.code = s.type
	WHERE s.project_no = $1${which}`;
const ALL = { lanes: sql(lanes("")), closing: sql(closing("")), subscriptions: sql(subscriptions("")) };
const ONE = {
	lanes: sql(lanes(" AND w.no = $2")),
	closing: sql(closing(" AND w.no = $2")),
	subscriptions: sql(subscriptions(" AND s.webhook_no = $2")),
};

/** From one state of the database, so that the mark matches the lanes. */
export async function loadLanes(
	c: Session,
	{ projectId, webhookId }: Params<"loadLanes">,
	node: PostgresNode,
): Promise<LoadedLanes> {
	const project = await findProject(c, projectId);
	if (project === null) return { lanes: [], seen: { lastSeq: 0, revision: 0 }, handedOver: [] };
	const statements = webhookId === undefined ? ALL : ONE;
	const which = webhookId === undefined ? [project] : [project, await findWebhook(c, project, webhookId)];
	const [mark, rows, closing, wanted, handedOver] = await Promise.all([
		c.row<{ last_seq: number; revision: number }>(MARK, project),
		c.rows(statements.lanes, ...which),
		c.rows<{ id: string; url: string }>(statements.closing, ...which),
		c.rows<{ webhook_no: number; name: string; from_seq: number }>(statements.subscriptions, ...which),
		readHandedOver(c, node.time(), project),
	]);
	const subscriptions = Map.groupBy(wanted, ({ webhook_no }) => webhook_no);
	const lanes = rows.map((row) => {
		const types = (subscriptions.get(row.no as number) ?? []).map(({ name, from_seq }) => [name, from_seq] as const);
		return laneOf(row, new Map(types), row.open as number[]);
	});
	const lastSeq = mark!.last_seq;
	c.ends.set(project, lastSeq);
	const all = [...lanes, ...closing.map(({ id, url }) => closingLane(id, url, lastSeq))];
	return { lanes: all, seen: { lastSeq, revision: mark!.revision }, handedOver };
}

const RETRIES = sql(`
	SELECT seq, replay, attempt, due_at FROM posthorn.retries
	WHERE project_no = $1 AND webhook_no = $2 AND queue = $3 AND (due_at, seq) > ($4, $5)
	ORDER BY due_at, seq LIMIT $6`);

export async function readRetries(
	c: Session,
	{ projectId, webhookId, queue, limit, after }: Params<"readRetries">,
): Promise<Retry[]> {
	const project = await findProject(c, projectId);
	const webhook = project === null ? null : await findWebhook(c, project, webhookId);
	if (webhook === null) return [];
	const behind = after
		? [c.offset.toDatabase(after.dueAt), after.seq]
		: [Number.MIN_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
	const rows = await c.rows(RETRIES, project, webhook, QUEUE_CODE[queue], ...behind, limit);
	return rows.map((row) => retryOf(row, webhookId, queue, c.offset.toNode(row.due_at as number)));
}

const CODES = Object.values(QUEUE_CODE);

/** The first of each queue of the webhooks that have any, and the first among those. */
const LIST = sql(`
	SELECT r.webhook_id, r.queue, r.attempt, r.replay, r.due_at, r.seq, e.id AS event_id,
		(SELECT t.name FROM posthorn.event_types t WHERE t.code = e.type) AS event_type
	FROM (
		SELECT w.id AS webhook_id, q.queue, r.attempt, r.replay, r.due_at, r.seq
		FROM posthorn.webhooks w
			CROSS JOIN LATERAL (
				SELECT FROM posthorn.lanes WHERE project_no = $1 AND webhook_no = w.no AND retries_waiting > 0 OFFSET 0
			) l
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
		const names = { webhookId: row.webhook_id as string, eventType: row.event_type as string };
		return waitingOf(row, names, c.offset.toNode(row.due_at as number));
	});
}
