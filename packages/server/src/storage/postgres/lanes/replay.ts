import type {
	CountedPage,
	MatchingReplays,
	Params,
	ReplayedPage,
	ReplayResult,
	RetryQueue,
	TestEventResult,
} from "../../port.ts";
import { countedPage, QUEUE_CODE, replayRange, STATUS_CODE, toAttemptId } from "../../shared/deliveries.ts";
import { findProject, findWebhook, typeCode } from "../connection/names.ts";
import { numberArray, numberColumns, type Session, type Statement, sql } from "../connection/session.ts";
import { atEntry, findAttempts, positionRows, readAt, WITHIN } from "../history/attempt-ranges.ts";
import { progressOf } from "../history/attempts.ts";
import { findEventPosition } from "../log/log.ts";
import type { PostgresNode } from "../node.ts";
import { lockProject, ringForChange } from "./locks.ts";

const LIVE = sql("SELECT no FROM posthorn.webhooks WHERE project_no = $1 AND id = $2 AND deleted_at IS NULL");

/** The number of a webhook that is not deleted, or null. */
async function findLiveWebhook(c: Session, projectNo: number, webhookId: string): Promise<number | null> {
	const row = await c.row<{ no: number }>(LIVE, projectNo, webhookId);
	return row === undefined ? null : row.no;
}

const NUMBER_TEST = sql(`
	UPDATE posthorn.logs SET last_test_seq = last_test_seq - 1 WHERE project_no = $1 RETURNING last_test_seq AS seq`);
const ADD_TEST = sql(`
	INSERT INTO posthorn.events (project_no, seq, id, type, created_at, published_at, body)
	VALUES ($1, $2, $3, $4, $5, $6, $7)`);

const SUBSCRIBED = sql(`
	SELECT 1 FROM posthorn.subscriptions WHERE project_no = $1 AND webhook_no = $2 AND type = $3`);

/** For a caller that holds all of the project and has interned the event's type. */
export async function appendTestEvent(
	c: Session,
	{ projectId, webhookId, event }: Params<"appendTestEvent">,
	node: PostgresNode,
): Promise<TestEventResult> {
	const now = node.clock.now();
	const project = await findProject(c, projectId);
	if (project === null) return "no_webhook";
	await lockProject(c, project);
	const webhook = await findLiveWebhook(c, project, webhookId);
	if (webhook === null) return "no_webhook";
	const type = typeCode(c.names, event.type);
	if ((await c.row(SUBSCRIBED, project, webhook, type)) === undefined) return "not_subscribed";
	const { seq } = (await c.row<{ seq: number }>(NUMBER_TEST, project))!;
	await Promise.all([
		c.run(ADD_TEST, project, seq, event.id, type, event.createdAt, now, event.body),
		queue(c, project, [{ webhook, seq, replay: 0, wasDead: false }], "requested", now),
		ringForChange(c, project),
	]);
	return "queued";
}

export async function replayDelivery(
	c: Session,
	{ projectId, webhookId, eventId, at }: Params<"replayDelivery">,
): Promise<ReplayResult> {
	const project = await findProject(c, projectId);
	const webhook = project === null ? null : await findWebhook(c, project, webhookId);
	if (project === null || webhook === null) return { kind: "no_delivery" };
	await lockProject(c, project);
	const event = await findEventPosition(c, project, eventId);
	const state = event === null ? null : await progressOf(c, project, webhook, event);
	if (event === null || state === null) return { kind: "no_delivery" };
	if (state.kind !== "ended") return { kind: "attempting" };
	const replay = state.replay + 1;
	const wasDead = event.seq > 0 && state.status === "failed" && !state.dismissed;
	await beginSeries(c, project, "requested", [{ webhook, seq: event.seq, replay, wasDead }], at);
	return { kind: "queued", replay };
}

/** An ended delivery, with the number of its next series. */
interface NewSeries {
	/** The webhook's number. */
	readonly webhook: number;
	readonly seq: number;
	readonly replay: number;
	/** Whether it currently counts as a dead letter. */
	readonly wasDead: boolean;
}

/** Queues and counts first attempts of replays and sets the alarm, for a caller that holds all of the project. */
async function beginSeries(
	c: Session,
	projectNo: number,
	name: RetryQueue,
	series: readonly NewSeries[],
	at: number,
): Promise<void> {
	await Promise.all([queue(c, projectNo, series, name, at), ringForChange(c, projectNo)]);
}

const QUEUE = sql(`
	WITH given AS MATERIALIZED (
		SELECT * FROM unnest($2::bigint[], $3::bigint[], $4::integer[], $5::integer[]) AS g (webhook_no, seq, replay, dead)
	), put AS (
		INSERT INTO posthorn.retries (project_no, webhook_no, seq, replay, attempt, queue, due_at)
		SELECT $1, webhook_no, seq, replay, 1, $6, $7 FROM given
	)
	UPDATE posthorn.lanes l
	SET retries_waiting = l.retries_waiting + g.waiting, dead_letters = greatest(0, l.dead_letters - g.dead)
	FROM (SELECT webhook_no, count(*) AS waiting, sum(dead) AS dead FROM given GROUP BY webhook_no) g
	WHERE l.project_no = $1 AND l.webhook_no = g.webhook_no`);

async function queue(
	c: Session,
	projectNo: number,
	series: readonly NewSeries[],
	name: RetryQueue,
	dueAt: number,
): Promise<void> {
	await c.run(
		QUEUE,
		projectNo,
		...numberColumns(series, "webhook", "seq", "replay"),
		numberArray(series.map(({ wasDead }) => (wasDead ? 1 : 0))),
		QUEUE_CODE[name],
		c.offset.toDatabase(dueAt),
	);
}

/** A scanned attempt. */
type Seen = {
	readonly id: string;
	readonly webhook_no: number;
	readonly seq: number;
	readonly replay: number;
	readonly status: number;
	/** Whether it's the newest of an ended delivery of an existing webhook, wasn't dismissed, and isn't of a test event. */
	readonly chosen: boolean;
};

/**
 * A deleted webhook has no lane. Pending attempts are looked up by bounds and in an order that only the primary key
 * has: with equality, the planner may scan everything pending for the webhook.
 */
const lookAt = (columns: string) =>
	sql(`
		SELECT a.id, a.webhook_no, a.seq, a.replay, a.status, ${columns}
			a.seq > 0 AND newest.id = a.id AND newest.dismissed_at IS NULL AND waiting.seq IS NULL
				AND lane.webhook_no IS NOT NULL AS chosen
		FROM (${positionRows()}) entry
		CROSS JOIN LATERAL (
			SELECT id, webhook_no, seq, replay, status, type, started_at ${atEntry(WITHIN)}
		) a
		CROSS JOIN LATERAL (
			SELECT n.id, n.dismissed_at FROM posthorn.attempts n
			WHERE n.project_no = $1 AND n.seq = a.seq AND n.webhook_no = a.webhook_no
			ORDER BY n.replay DESC, n.attempt DESC LIMIT 1
		) newest
		LEFT JOIN LATERAL (
			SELECT seq FROM posthorn.retries
			WHERE project_no = $1 AND (seq, webhook_no) BETWEEN (a.seq, a.webhook_no) AND (a.seq, a.webhook_no)
			ORDER BY seq, webhook_no LIMIT 1
		) waiting ON true
		LEFT JOIN LATERAL (
			SELECT webhook_no FROM posthorn.lanes WHERE project_no = $1 AND webhook_no = a.webhook_no LIMIT 1
		) lane ON true
		ORDER BY a.id`);
const LOOK_AT = lookAt("");
const COUNT_AT = lookAt(`
			a.started_at,
			(SELECT t.name FROM posthorn.event_types t WHERE t.code = a.type) AS event_type,
			(SELECT w.id FROM posthorn.webhooks w WHERE w.project_no = $1 AND w.no = a.webhook_no) AS webhook_id,`);

interface Named extends Seen {
	readonly started_at: number;
	readonly event_type: string;
	readonly webhook_id: string;
}

/** Begins a new series for the deliveries of one step. */
export async function replayMatching(c: Session, p: MatchingReplays): Promise<ReplayedPage> {
	const project = await findProject(c, p.projectId);
	if (project === null) return { count: 0, next: null };
	await lockProject(c, project);
	const { chosen, next } = await choose<Seen>(c, LOOK_AT, project, p);
	if (chosen.length > 0) {
		const series = chosen.map(({ webhook_no, seq, replay, status }) => ({
			webhook: webhook_no,
			seq,
			replay: replay + 1,
			wasDead: status === STATUS_CODE.failed,
		}));
		await beginSeries(c, project, "replay", series, p.at);
	}
	return { count: chosen.length, next };
}

/** The same step, only counted. */
export async function countMatching(c: Session, p: MatchingReplays): Promise<CountedPage> {
	const project = await findProject(c, p.projectId);
	if (project === null) return countedPage([], null);
	const { chosen, next } = await choose<Named>(c, COUNT_AT, project, p);
	const named = chosen.map(({ webhook_id: webhookId, event_type: eventType, started_at: startedAt }) => ({
		...{ webhookId, eventType, startedAt },
	}));
	return countedPage(named, next);
}

async function choose<Row extends Seen>(
	c: Session,
	statement: Statement,
	project: number,
	p: MatchingReplays,
): Promise<{ chosen: Row[]; next: string | null }> {
	const { selection, limit } = p;
	const { positions, end } = await findAttempts(c, "ASC", project, selection, [replayRange(p)], limit);
	const seen = await readAt<Row>(c, statement, project, positions);
	const last = positions.length < limit ? end : positions.at(-1)!.id;
	return { chosen: seen.filter(({ chosen }) => chosen), next: last === null ? null : toAttemptId(last) };
}
