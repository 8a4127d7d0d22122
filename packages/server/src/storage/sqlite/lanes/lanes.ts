import type { Backlog, Gauges, HandedOver, LoadedLanes, Params, Retry, WaitingRetry } from "../../port.ts";
import { closingLane, handedOverOf, laneOf, QUEUE_CODE, retryOf, waitingOf } from "../../shared/deliveries.ts";
import type { Connection } from "../connection/connection.ts";

/** How a lane's open events are stored: JSON, NULL for none. */
export const encodeOpen = (open: readonly number[]): string | null => (open.length === 0 ? null : JSON.stringify(open));
export const decodeOpen = (text: unknown): number[] => (text === null ? [] : (JSON.parse(text as string) as number[]));

export function loadLanes(c: Connection, { projectId, webhookId }: Params<"loadLanes">): LoadedLanes {
	const project = c.sql("SELECT no, last_seq, revision FROM projects WHERE id = ?").get(projectId);
	if (project === undefined) return { lanes: [], seen: { lastSeq: 0, revision: 0 }, handedOver: [] };
	const which = webhookId === undefined ? [project.no as number] : [project.no as number, webhookId];
	const rows = c
		.sql(`
			SELECT w.no, w.id, w.url, w.status, w.max_in_flight, w.sealed_digest,
				CASE WHEN w.standard_webhooks THEN w.sealed_standard_digest END AS standard_digest,
				l.position, l.open, l.skip_through
			FROM webhooks w JOIN lanes l ON l.webhook_no = w.no
			WHERE w.project_no = ? AND w.deleted_at IS NULL${webhookId === undefined ? "" : " AND w.id = ?"} ORDER BY w.id`)
		.all(...which);
	const lanes = rows.map((row) => laneOf(row, readSubscriptions(c, row.no as number), decodeOpen(row.open)));
	const lastSeq = project.last_seq as number;
	const closing = c
		.sql(
			webhookId === undefined
				? "SELECT id, url FROM webhooks INDEXED BY webhooks_closing WHERE project_no = ? AND closing = 1 ORDER BY id"
				: "SELECT id, url FROM webhooks WHERE project_no = ? AND id = ? AND closing = 1",
		)
		.all(...which)
		.map((row) => closingLane(row.id as string, row.url as string, lastSeq));
	const seen = { lastSeq, revision: project.revision as number };
	return { lanes: [...lanes, ...closing], seen, handedOver: readHandedOver(c, project.no as number) };
}

function readSubscriptions(c: Connection, webhookNo: number): Map<string, number> {
	const rows = c.sql("SELECT type, from_seq FROM subscriptions WHERE webhook_no = ?").all(webhookNo);
	return new Map(rows.map((row) => [c.names.typeName(row.type as number), row.from_seq as number]));
}

/** Former holders' attempts in flight. */
function readHandedOver(c: Connection, projectNo: number): HandedOver[] {
	return c
		.sql(`
			SELECT w.id, h.seq, h.replay, h.queue, h.until FROM handed_over h JOIN webhooks w ON w.no = h.webhook_no
			WHERE h.project_no = ? ORDER BY h.webhook_no, h.seq`)
		.all(projectNo)
		.map((row) => handedOverOf(row, row.until as number));
}

export function readRetries(
	c: Connection,
	{ projectId, webhookId, queue, limit, after }: Params<"readRetries">,
): Retry[] {
	const project = c.names.project(projectId);
	const webhook = project === null ? null : c.names.webhook(project, webhookId);
	if (webhook === null) return [];
	const start = after ?? { dueAt: Number.MIN_SAFE_INTEGER, seq: Number.MIN_SAFE_INTEGER };
	return c
		.sql(`
			SELECT seq, replay, attempt, due_at FROM retries
			WHERE webhook_no = ? AND queue = ? AND (due_at, seq) > (?, ?) ORDER BY due_at, seq LIMIT ?`)
		.all(webhook, QUEUE_CODE[queue], start.dueAt, start.seq, limit)
		.map((row) => retryOf(row, webhookId, queue, row.due_at as number));
}

/** The number of a webhook that is not deleted, or null. */
function liveWebhook(c: Connection, projectNo: number, webhookId: string): number | null {
	const row = c
		.sql("SELECT no FROM webhooks WHERE project_no = ? AND id = ? AND deleted_at IS NULL")
		.get(projectNo, webhookId);
	return row === undefined ? null : (row.no as number);
}

/** Creates or replaces a delivery's pending attempt. Returns how many more are pending: 1 or 0. */
export function putRetry(c: Connection, projectNo: number, webhookNo: number, retry: Omit<Retry, "webhookId">): number {
	const queue = QUEUE_CODE[retry.queue];
	const replaced = c
		.sql(`
			UPDATE retries SET queue = ?, due_at = ?, replay = ?, attempt = ?
			WHERE project_no = ? AND seq = ? AND webhook_no = ?`)
		.run(queue, retry.dueAt, retry.replay, retry.attempt, projectNo, retry.seq, webhookNo);
	if (replaced.changes === 1) return 0;
	c.sql(`
		INSERT INTO retries (project_no, seq, webhook_no, queue, due_at, replay, attempt) VALUES (?, ?, ?, ?, ?, ?, ?)`).run(
		projectNo,
		retry.seq,
		webhookNo,
		queue,
		retry.dueAt,
		retry.replay,
		retry.attempt,
	);
	return 1;
}

/** Whether an attempt of this delivery is pending. */
export function hasRetry(c: Connection, projectNo: number, webhookNo: number, seq: number): boolean {
	const found = c
		.sql("SELECT 1 FROM retries WHERE project_no = ? AND seq = ? AND webhook_no = ?")
		.get(projectNo, seq, webhookNo);
	return found !== undefined;
}

/** Returns how many fewer are pending: 1 or 0. */
export function dropRetry(c: Connection, projectNo: number, webhookNo: number, seq: number): number {
	const dropped = c
		.sql("DELETE FROM retries WHERE project_no = ? AND seq = ? AND webhook_no = ?")
		.run(projectNo, seq, webhookNo);
	return Number(dropped.changes);
}

/** Maintains the counters that the gauges read. */
export function addToCounters(c: Connection, webhookNo: number, retries: number, deadLetters: number): void {
	if (retries === 0 && deadLetters === 0) return;
	c.sql(`
		UPDATE lanes SET retries_waiting = max(0, retries_waiting + ?), dead_letters = max(0, dead_letters + ?)
		WHERE webhook_no = ?`).run(retries, deadLetters, webhookNo);
}

type Row = Record<string, unknown>;
const bySchedule = (a: Row, b: Row): number =>
	(a.due_at as number) - (b.due_at as number) || (a.seq as number) - (b.seq as number);

export function listWaitingRetries(
	c: Connection,
	{ projectId, webhookId, limit }: Params<"listWaitingRetries">,
): WaitingRetry[] {
	const project = c.names.project(projectId);
	if (project === null) return [];
	let rows: Row[] = [];
	for (const webhook of waitingWebhooks(c, project, webhookId)) {
		for (const queue of Object.values(QUEUE_CODE)) {
			// Once there are enough, only earlier ones than the last of them matter.
			const horizon = rows.length < limit ? Number.MAX_SAFE_INTEGER : (rows.at(-1)!.due_at as number);
			const more = c
				.sql(`
					SELECT webhook_no, queue, seq, replay, attempt, due_at FROM retries
					WHERE webhook_no = ? AND queue = ? AND due_at <= ? ORDER BY due_at, seq LIMIT ?`)
				.all(webhook, queue, horizon, limit);
			if (more.length > 0) rows = [...rows, ...more].sort(bySchedule).slice(0, limit);
		}
	}
	return rows.map((row) => toWaiting(c, project, row));
}

/** Those with pending retries or replays: that webhook, or any of the project without one. */
function waitingWebhooks(c: Connection, project: number, webhookId: string | null): number[] {
	if (webhookId !== null) {
		const webhook = liveWebhook(c, project, webhookId);
		return webhook === null ? [] : [webhook];
	}
	return c
		.sql(`
			SELECT w.no FROM webhooks w CROSS JOIN lanes l ON l.webhook_no = w.no AND l.retries_waiting > 0
			WHERE w.project_no = ? AND w.deleted_at IS NULL ORDER BY w.id`)
		.all(project)
		.map((row) => row.no as number);
}

function toWaiting(c: Connection, project: number, row: Row): WaitingRetry {
	const event = c.sql("SELECT id, type FROM events WHERE project_no = ? AND seq = ?").get(project, row.seq as number);
	if (event === undefined)
		throw new Error(`Event ${row.seq} of project number ${project} is pending but doesn't exist.`);
	const names = {
		webhookId: c.names.webhookId(row.webhook_no as number),
		eventType: c.names.typeName(event.type as number),
	};
	return waitingOf({ ...row, event_id: event.id }, names, row.due_at as number);
}

/**
 * Records a change of webhooks, a replay or a test, and sets the project's alarm. While the project is leased, its
 * alarm isn't set: the holder sees the new revision when it releases the lease.
 */
export function ringForChange(c: Connection, projectNo: number): void {
	c.sql(
		"UPDATE projects SET revision = revision + 1, wake_at = CASE WHEN lease_until IS NULL THEN 0 END WHERE no = ?",
	).run(projectNo);
}

/**
 * A lane's backlog: its open events, and for each subscribed type the events after its position (and after the
 * subscription's start), counted as the difference of two numbers. Two index probes per type, for a backlog of any
 * size. Null if the lane doesn't exist.
 */
function readBacklog(c: Connection, projectNo: number, webhookNo: number): Backlog | null {
	const lane = c.sql("SELECT position, open FROM lanes WHERE webhook_no = ?").get(webhookNo);
	if (lane === undefined) return null;
	const subscriptions = new Map(
		c
			.sql("SELECT type, from_seq FROM subscriptions WHERE webhook_no = ?")
			.all(webhookNo)
			.map((row) => [row.type as number, row.from_seq as number]),
	);
	let events = 0;
	let oldest = Number.POSITIVE_INFINITY;
	for (const seq of decodeOpen(lane.open)) {
		const event = c.sql("SELECT type FROM events WHERE project_no = ? AND seq = ?").get(projectNo, seq);
		const from = event && subscriptions.get(event.type as number);
		if (from === undefined || seq <= from) continue;
		events += 1;
		oldest = Math.min(oldest, seq);
	}
	for (const [type, from] of subscriptions) {
		const first = c
			.sql("SELECT seq, type_seq FROM events WHERE project_no = ? AND type = ? AND seq > ? ORDER BY seq LIMIT 1")
			.get(projectNo, type, Math.max(lane.position as number, from));
		if (first === undefined) continue;
		const last = c
			.sql("SELECT type_seq FROM events WHERE project_no = ? AND type = ? ORDER BY seq DESC LIMIT 1")
			.get(projectNo, type)!;
		events += (last.type_seq as number) - (first.type_seq as number) + 1;
		oldest = Math.min(oldest, first.seq as number);
	}
	return { events, oldestAt: events === 0 ? null : publishedAt(c, projectNo, oldest) };
}

function publishedAt(c: Connection, projectNo: number, seq: number): number {
	return c.sql("SELECT published_at FROM events WHERE project_no = ? AND seq = ?").get(projectNo, seq)!
		.published_at as number;
}

export function readBacklogs(c: Connection, { projectId, webhookIds }: Params<"readBacklogs">): Map<string, Backlog> {
	const found = new Map<string, Backlog>();
	const project = c.names.project(projectId);
	if (project === null) return found;
	for (const id of webhookIds) {
		const webhook = c.names.webhook(project, id);
		const backlog = webhook === null ? null : readBacklog(c, project, webhook);
		if (backlog !== null) found.set(id, backlog);
	}
	return found;
}

/** Gauges of some webhooks, so that other reads can run between calls. */
interface GaugeSlice {
	readonly gauges: Gauges;
	/** The webhook number to continue after, or null at the end. */
	readonly next: number | null;
}

const WEBHOOKS_A_SLICE = 200;

export function readGauges(c: Connection, after: number): GaugeSlice {
	const lanes = c
		.sql(`
			SELECT l.webhook_no, w.project_no, l.retries_waiting, l.dead_letters
			FROM lanes l JOIN webhooks w ON w.no = l.webhook_no
			WHERE l.webhook_no > ? ORDER BY l.webhook_no LIMIT ${WEBHOOKS_A_SLICE}`)
		.all(after);
	let backlog = 0;
	let oldestAt: number | null = null;
	let retriesWaiting = 0;
	let deadLetters = 0;
	for (const lane of lanes) {
		retriesWaiting += lane.retries_waiting as number;
		deadLetters += lane.dead_letters as number;
		const waiting = readBacklog(c, lane.project_no as number, lane.webhook_no as number);
		backlog += waiting?.events ?? 0;
		oldestAt = earlier(oldestAt, waiting?.oldestAt ?? null);
	}
	// The first slice counts the projects.
	const projects = after === 0 ? (c.sql("SELECT count(*) AS count FROM projects").get()!.count as number) : 0;
	return {
		gauges: { projects, webhooks: lanes.length, backlog, oldestAt, retriesWaiting, deadLetters },
		next: lanes.length < WEBHOOKS_A_SLICE ? null : (lanes.at(-1)!.webhook_no as number),
	};
}

export function addGauges(a: Gauges, b: Gauges): Gauges {
	return {
		projects: a.projects + b.projects,
		webhooks: a.webhooks + b.webhooks,
		backlog: a.backlog + b.backlog,
		oldestAt: earlier(a.oldestAt, b.oldestAt),
		retriesWaiting: a.retriesWaiting + b.retriesWaiting,
		deadLetters: a.deadLetters + b.deadLetters,
	};
}

function earlier(a: number | null, b: number | null): number | null {
	return a === null || b === null ? (a ?? b) : Math.min(a, b);
}
