import type { Backlog, Gauges, LoadedLanes, Params, Retry, WaitingRetry } from "../../port.ts";
import { closingLane, LANE, type LaneRow, QUEUE_CODE, retryOf, waitingOf } from "../../shared/deliveries.ts";
import { addGauges, gaugesOf, type LaneGauges, NO_GAUGES } from "../../shared/gauges.ts";
import { newestLog } from "../connection/hot-rows.ts";
import { findProject, findWebhook } from "../connection/names.ts";
import { type Row, type Session, sql, textArray } from "../connection/session.ts";
import { readHandedOver } from "../leases/leases.ts";
import { firstOfType, lastOfType, numbered } from "../log/log.ts";
import type { PostgresNode } from "../node.ts";

const MARK = sql(`SELECT last_seq, revision ${newestLog("$1")}`);
const lanes = (which: string) => `
	SELECT ${LANE} FROM posthorn.webhooks w JOIN posthorn.lanes l ON l.project_no = w.project_no AND l.webhook_no = w.no
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

/** Reads one state of the database, so that the mark matches the lanes. */
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
		c.rows<LaneRow<number[]> & Row>(statements.lanes, ...which),
		c.rows<{ id: string; url: string }>(statements.closing, ...which),
		c.rows<{ webhook_no: number; name: string; from_seq: number }>(statements.subscriptions, ...which),
		readHandedOver(c, node.time(), project),
	]);
	const subscriptions = Map.groupBy(wanted, ({ webhook_no }) => webhook_no);
	const lanes = rows.map(({ no, ...lane }) => {
		const types = (subscriptions.get(no) ?? []).map(({ name, from_seq }) => [name, from_seq] as const);
		return { ...lane, subscriptions: new Map(types) };
	});
	const lastSeq = mark!.last_seq;
	c.ends.set(project, lastSeq);
	const all = [...lanes, ...closing.map(({ id, url }) => closingLane(id, url, lastSeq))];
	return { lanes: all, seen: { lastSeq, revision: mark!.revision }, handedOver };
}

/**
 * A delivery's pending retry or replay: the end of a SELECT from `posthorn.retries`. Written as a range with its order, so
 * that the primary key is used even without statistics.
 */
export const pendingRetry = (project: string, seq: string, webhook: string): string => `
	WHERE project_no = ${project} AND (seq, webhook_no) BETWEEN (${seq}, ${webhook}) AND (${seq}, ${webhook})
	ORDER BY seq, webhook_no LIMIT 1`;

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

/** The first of each queue, for webhooks that have any, and then the first of all of them. */
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
		SELECT id, type FROM posthorn.events ${numbered("$1", "r.seq")}
	) e ON true
	ORDER BY r.due_at, r.seq`);

export async function listWaitingRetries(
	c: Session,
	{ projectId, webhookId, limit }: Params<"listWaitingRetries">,
): Promise<WaitingRetry[]> {
	const project = await findProject(c, projectId);
	if (project === null) return [];
	const rows = await c.rows(LIST, project, webhookId, limit);
	return rows.map((row) => {
		if (row.event_id === null)
			throw new Error(`Event ${row.seq} of project ${projectId} is pending but doesn't exist.`);
		const names = { webhookId: row.webhook_id as string, eventType: row.event_type as string };
		return waitingOf(row, names, c.offset.toNode(row.due_at as number));
	});
}

/** The end of a SELECT of the first event that a `lane` has yet to reach, of the type of its subscription `s`. */
export const FIRST_AHEAD = firstOfType("lane.project_no", "s.type", "greatest(lane.position, s.from_seq)");

/**
 * The backlog of each `lane` (rows of `lanes`): its open events, and for each subscribed type the events after its
 * position (and after the subscription's start), counted as the difference of two numbers. A few index probes per type,
 * for a backlog of any size.
 */
const BACKLOG = `
	SELECT coalesce(sum(waits.n), 0)::bigint AS events, min(waits.seq) AS oldest_seq,
		(array_agg(e.published_at ORDER BY waits.seq))[1] AS oldest_at
	FROM (
		SELECT first.seq, last.type_seq - first.type_seq + 1 AS n
		FROM posthorn.subscriptions s
			CROSS JOIN LATERAL (
				SELECT seq, type_seq FROM posthorn.events ${FIRST_AHEAD} LIMIT 1
			) first
			CROSS JOIN LATERAL (
				SELECT type_seq FROM posthorn.events ${lastOfType("lane.project_no", "s.type")} LIMIT 1
			) last
		WHERE s.project_no = lane.project_no AND s.webhook_no = lane.webhook_no
		UNION ALL
		SELECT open.seq, 1
		FROM unnest(lane.open) AS open (seq)
			CROSS JOIN LATERAL (
				SELECT type FROM posthorn.events ${numbered("lane.project_no", "open.seq")}
			) e
			JOIN posthorn.subscriptions s
				ON s.project_no = lane.project_no AND s.webhook_no = lane.webhook_no AND s.type = e.type
		WHERE open.seq > s.from_seq
	) waits
		CROSS JOIN LATERAL (
			SELECT published_at FROM posthorn.events ${numbered("lane.project_no", "waits.seq")}
		) e`;

const READ = sql(`
	SELECT w.id, waiting.events, waiting.oldest_seq AS "oldestSeq", waiting.oldest_at AS "oldestAt"
	FROM posthorn.webhooks w
		JOIN posthorn.lanes lane ON lane.project_no = w.project_no AND lane.webhook_no = w.no
		CROSS JOIN LATERAL (${BACKLOG}) waiting
	WHERE w.project_no = $1 AND w.id = ANY ($2::text[])`);

export async function readBacklogs(
	c: Session,
	{ projectId, webhookIds }: Params<"readBacklogs">,
): Promise<Map<string, Backlog>> {
	const project = await findProject(c, projectId);
	if (project === null || webhookIds.length === 0) return new Map();
	const rows = await c.rows<Row & Backlog & { id: string }>(READ, project, textArray(webhookIds));
	return new Map(rows.map(({ id, ...backlog }) => [id, backlog]));
}

/** Lanes aggregated per statement, so that each statement is short. */
const LANES_AT_ONCE = 200;

const PROJECTS = sql("SELECT count(*) AS count FROM posthorn.projects");
const SLICE = sql(`
	SELECT lane.project_no, lane.webhook_no, lane.retries_waiting AS "retriesWaiting", lane.dead_letters AS "deadLetters",
		waiting.events AS backlog, waiting.oldest_at AS "oldestAt", (
			SELECT w.status = 'paused' FROM posthorn.webhooks w
			WHERE w.project_no = lane.project_no AND w.no = lane.webhook_no
		) AS paused
	FROM (
		SELECT * FROM posthorn.lanes WHERE (project_no, webhook_no) > ($1, $2) ORDER BY project_no, webhook_no
		LIMIT ${LANES_AT_ONCE}
	) lane CROSS JOIN LATERAL (${BACKLOG}) waiting
	ORDER BY lane.project_no, lane.webhook_no`);

export async function readGauges(c: Session): Promise<Gauges> {
	const projects = (await c.row<{ count: number }>(PROJECTS))!.count;
	let gauges: Gauges = { ...NO_GAUGES, projects };
	let after: readonly number[] = [0, 0];
	for (;;) {
		const lanes = await c.rows<CountedLane>(SLICE, ...after);
		gauges = addGauges(gauges, gaugesOf(lanes));
		const last = lanes.at(-1);
		if (last === undefined || lanes.length < LANES_AT_ONCE) return gauges;
		after = [last.project_no, last.webhook_no];
	}
}

interface CountedLane extends LaneGauges, Row {
	readonly project_no: number;
	readonly webhook_no: number;
}
