import type { Backlog, Gauges, LoadedLanes, Params, Retry, WaitingRetry } from "../../port.ts";
import {
	closingLane,
	handedOverOf,
	LANE,
	type LaneRow,
	QUEUE_CODE,
	retryOf,
	waitingOf,
} from "../../shared/deliveries.ts";
import { gaugesOf } from "../../shared/gauges.ts";
import type { Connection, Row } from "../connection/connection.ts";

/** How a lane's open events are stored: JSON, NULL for none. */
export const encodeOpen = (open: readonly number[]): string | null => (open.length === 0 ? null : JSON.stringify(open));
export const decodeOpen = (text: unknown): number[] => (text === null ? [] : (JSON.parse(text as string) as number[]));

export function loadLanes(c: Connection, { projectId, webhookId }: Params<"loadLanes">): LoadedLanes {
	const project = c.row<Mark>("SELECT no, last_seq, revision FROM projects WHERE id = ?", projectId);
	if (project === undefined) return { lanes: [], seen: { lastSeq: 0, revision: 0 }, handedOver: [] };
	const { no, last_seq: lastSeq, revision } = project;
	const statements = webhookId === undefined ? ALL : ONE;
	const which = webhookId === undefined ? [no] : [no, webhookId];
	const lanes = c.rows<LaneRow<string | null>>(statements.lanes, ...which).map(({ no, open, ...lane }) => {
		const types = subscriptionsOf(c, no).map(({ type, from_seq }) => [c.names.typeName(type), from_seq] as const);
		return { ...lane, subscriptions: new Map(types), open: decodeOpen(open) };
	});
	const closing = c
		.rows<{ id: string; url: string }>(statements.closing, ...which)
		.map(({ id, url }) => closingLane(id, url, lastSeq));
	const handedOver = c.rows(HANDED_OVER, no).map((row) => handedOverOf(row, row.until as number));
	return { lanes: [...lanes, ...closing], seen: { lastSeq, revision }, handedOver };
}

type Mark = { readonly no: number; readonly last_seq: number; readonly revision: number };

const lanes = (which: string) => `
	SELECT ${LANE} FROM webhooks w JOIN lanes l ON l.webhook_no = w.no
	WHERE w.project_no = ? AND w.deleted_at IS NULL${which} ORDER BY w.id`;
const ALL = {
	lanes: lanes(""),
	closing: "SELECT id, url FROM webhooks INDEXED BY webhooks_closing WHERE project_no = ? AND closing = 1 ORDER BY id",
};
const ONE = {
	lanes: lanes(" AND w.id = ?"),
	closing: "SELECT id, url FROM webhooks WHERE project_no = ? AND id = ? AND closing = 1",
};
/** Former holders' attempts in flight. */
const HANDED_OVER = `
	SELECT w.id, h.seq, h.replay, h.queue, h.until FROM handed_over h JOIN webhooks w ON w.no = h.webhook_no
	WHERE h.project_no = ? ORDER BY h.webhook_no, h.seq`;

/** By type, the `seq` that each of a webhook's subscriptions starts after. */
const subscriptionsOf = (c: Connection, webhookNo: number) =>
	c.rows<{ type: number; from_seq: number }>(
		"SELECT type, from_seq FROM subscriptions WHERE webhook_no = ?",
		webhookNo,
	);

export function readRetries(
	c: Connection,
	{ projectId, webhookId, queue, limit, after }: Params<"readRetries">,
): Retry[] {
	const project = c.names.project(projectId);
	const webhook = project === null ? null : c.names.webhook(project, webhookId);
	if (webhook === null) return [];
	const start = after ?? { dueAt: Number.MIN_SAFE_INTEGER, seq: Number.MIN_SAFE_INTEGER };
	const rows = c.rows(RETRIES, webhook, QUEUE_CODE[queue], start.dueAt, start.seq, limit);
	return rows.map((row) => retryOf(row, webhookId, queue, row.due_at as number));
}

const RETRIES = `
	SELECT seq, replay, attempt, due_at FROM retries
	WHERE webhook_no = ? AND queue = ? AND (due_at, seq) > (?, ?) ORDER BY due_at, seq LIMIT ?`;

/** Creates or replaces a delivery's pending attempt. Returns how many more are pending: 1 or 0. */
export function putRetry(c: Connection, projectNo: number, webhookNo: number, retry: Omit<Retry, "webhookId">): number {
	const { queue, dueAt, replay, attempt, seq } = retry;
	const values = [QUEUE_CODE[queue], dueAt, replay, attempt, projectNo, seq, webhookNo];
	if (c.run(REPLACE_RETRY, ...values) === 1) return 0;
	return c.run(INSERT_RETRY, ...values);
}

const REPLACE_RETRY = `
	UPDATE retries SET queue = ?, due_at = ?, replay = ?, attempt = ? WHERE project_no = ? AND seq = ? AND webhook_no = ?`;
const INSERT_RETRY = `
	INSERT INTO retries (queue, due_at, replay, attempt, project_no, seq, webhook_no) VALUES (?, ?, ?, ?, ?, ?, ?)`;

/** Returns how many fewer are pending: 1 or 0. */
export const dropRetry = (c: Connection, projectNo: number, webhookNo: number, seq: number): number =>
	c.run("DELETE FROM retries WHERE project_no = ? AND seq = ? AND webhook_no = ?", projectNo, seq, webhookNo);

/** Maintains the counters that the gauges read. */
export function addToCounters(c: Connection, webhookNo: number, retries: number, deadLetters: number): void {
	if (retries === 0 && deadLetters === 0) return;
	c.run(ADD_TO_COUNTERS, retries, deadLetters, webhookNo);
}

const ADD_TO_COUNTERS = `
	UPDATE lanes SET retries_waiting = max(0, retries_waiting + ?), dead_letters = max(0, dead_letters + ?)
	WHERE webhook_no = ?`;

interface WaitingRow extends Row {
	readonly webhook_no: number;
	readonly seq: number;
	readonly due_at: number;
}

const bySchedule = (a: WaitingRow, b: WaitingRow): number => a.due_at - b.due_at || a.seq - b.seq;

export function listWaitingRetries(
	c: Connection,
	{ projectId, webhookId, limit }: Params<"listWaitingRetries">,
): WaitingRetry[] {
	const project = c.names.project(projectId);
	if (project === null) return [];
	let rows: WaitingRow[] = [];
	for (const webhook of waitingWebhooks(c, project, webhookId)) {
		for (const queue of Object.values(QUEUE_CODE)) {
			// Once there are enough, only those due before the last of them matter.
			const horizon = rows.length < limit ? Number.MAX_SAFE_INTEGER : rows.at(-1)!.due_at;
			const more = c.rows<WaitingRow>(WAITING, webhook, queue, horizon, limit);
			if (more.length > 0) rows = [...rows, ...more].sort(bySchedule).slice(0, limit);
		}
	}
	return rows.map((row) => toWaiting(c, project, row));
}

const WAITING = `
	SELECT webhook_no, queue, seq, replay, attempt, due_at FROM retries
	WHERE webhook_no = ? AND queue = ? AND due_at <= ? ORDER BY due_at, seq LIMIT ?`;

/** Webhooks with pending retries or replays: at most the given one, or any of the project if it is null. */
function waitingWebhooks(c: Connection, project: number, webhookId: string | null): number[] {
	const [only, values] = webhookId === null ? ["", [project]] : [" AND w.id = ?", [project, webhookId]];
	const find = `
		SELECT w.no FROM webhooks w CROSS JOIN lanes l ON l.webhook_no = w.no AND l.retries_waiting > 0
		WHERE w.project_no = ? AND w.deleted_at IS NULL${only} ORDER BY w.id`;
	return c.rows<{ no: number }>(find, ...values).map(({ no }) => no);
}

function toWaiting(c: Connection, project: number, row: WaitingRow): WaitingRetry {
	const event = c.row<{ id: string; type: number }>(EVENT, project, row.seq);
	if (event === undefined)
		throw new Error(`Event ${row.seq} of project number ${project} is pending but doesn't exist.`);
	const names = { webhookId: c.names.webhookId(row.webhook_no), eventType: c.names.typeName(event.type) };
	return waitingOf({ ...row, event_id: event.id }, names, row.due_at);
}

const EVENT = "SELECT id, type, published_at FROM events WHERE project_no = ? AND seq = ?";

/**
 * Records a change of webhooks, a replay or a test, and sets the project's alarm. While the project is leased, its
 * alarm isn't set: the holder sees the new revision when it releases the lease.
 */
export function wakeForChange(c: Connection, projectNo: number): void {
	c.run(WAKE, projectNo);
}

const WAKE = `
	UPDATE projects SET revision = revision + 1, wake_at = CASE WHEN lease_until IS NULL THEN 0 END WHERE no = ?`;

/** A stored lane; undefined if it doesn't exist. */
export const findLane = (c: Connection, webhookNo: number) =>
	c.row<{ position: number; open: string | null }>("SELECT position, open FROM lanes WHERE webhook_no = ?", webhookNo);

/**
 * A lane's backlog: its open events, and for each subscribed type the events after its position (and after the
 * subscription's start), counted as the difference of two numbers. Two index probes per type, for a backlog of any
 * size. Null if the lane doesn't exist.
 */
function readBacklog(c: Connection, projectNo: number, webhookNo: number): Backlog | null {
	const lane = findLane(c, webhookNo);
	if (lane === undefined) return null;
	const subscriptions = new Map(subscriptionsOf(c, webhookNo).map(({ type, from_seq }) => [type, from_seq]));
	let events = 0;
	let oldest = Number.POSITIVE_INFINITY;
	for (const seq of decodeOpen(lane.open)) {
		const event = c.row<{ type: number }>(EVENT, projectNo, seq);
		const from = event && subscriptions.get(event.type);
		if (from === undefined || seq <= from) continue;
		events += 1;
		oldest = Math.min(oldest, seq);
	}
	for (const [type, from] of subscriptions) {
		const first = c.row<TypedEvent>(FIRST_OF_TYPE, projectNo, type, Math.max(lane.position, from));
		if (first === undefined) continue;
		const last = c.row<TypedEvent>(LAST_OF_TYPE, projectNo, type)!;
		events += last.type_seq - first.type_seq + 1;
		oldest = Math.min(oldest, first.seq);
	}
	if (events === 0) return { events, oldestSeq: null, oldestAt: null };
	const { published_at } = c.row<{ published_at: number }>(EVENT, projectNo, oldest)!;
	return { events, oldestSeq: oldest, oldestAt: published_at };
}

const FIRST_OF_TYPE =
	"SELECT seq, type_seq FROM events WHERE project_no = ? AND type = ? AND seq > ? ORDER BY seq LIMIT 1";
const LAST_OF_TYPE = "SELECT seq, type_seq FROM events WHERE project_no = ? AND type = ? ORDER BY seq DESC LIMIT 1";
type TypedEvent = { readonly seq: number; readonly type_seq: number };

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
	const lanes = c.rows<CountedLane>(SLICE, after);
	// The first slice counts the projects.
	const projects = after === 0 ? c.row<{ count: number }>("SELECT count(*) AS count FROM projects")!.count : 0;
	const counted = lanes.map(({ project_no, webhook_no, paused, ...counts }) => {
		const { events: backlog, oldestAt } = readBacklog(c, project_no, webhook_no)!;
		return { ...counts, paused: paused === 1, backlog, oldestAt };
	});
	const gauges = { ...gaugesOf(counted), projects };
	return { gauges, next: lanes.length < WEBHOOKS_A_SLICE ? null : lanes.at(-1)!.webhook_no };
}

const SLICE = `
	SELECT l.webhook_no, w.project_no, w.status = 'paused' AS paused,
		l.retries_waiting AS "retriesWaiting", l.dead_letters AS "deadLetters"
	FROM lanes l JOIN webhooks w ON w.no = l.webhook_no
	WHERE l.webhook_no > ? ORDER BY l.webhook_no LIMIT ${WEBHOOKS_A_SLICE}`;
interface CountedLane extends Pick<Gauges, "retriesWaiting" | "deadLetters"> {
	readonly webhook_no: number;
	readonly project_no: number;
	readonly paused: 0 | 1;
}
