import { RETENTION } from "../../../base/budgets.ts";
import type { EventSweepStep, Params, SweepStep } from "../../port.ts";
import { withinBytes } from "../../shared/bodies.ts";
import { STATUS_CODE } from "../../shared/deliveries.ts";
import type { Connection } from "../connection/connection.ts";
import { countThrough, followEnd, sweepStats } from "../history/stats.ts";
import { addToCounters, decodeOpen, wakeForChange } from "../lanes/lanes.ts";
import type { LeaseTime } from "../leases/leases.ts";

/** Attempts are logged when they end, so they aren't exactly in the order in which they began. */
const DISORDER_MS = 600_000;

/**
 * Attempts are roughly in the order in which they began, so a pass continues until everything scanned began well after
 * the cutoff. A step deletes a range of rows with one statement: their index entries are next to each other, too. Old
 * counts are deleted before, in separate steps.
 */
export function sweepAttempts(
	c: Connection,
	{ cutoff, limit, from, latest = Number.POSITIVE_INFINITY, now }: Params<"sweepAttempts">,
	time: LeaseTime,
): SweepStep {
	if (from === 0 && sweepStats(c, cutoff, now ?? time.now, limit)) return { deleted: 0, next: 0 };
	if (from === 0) sweepDeletedWebhooks(c, cutoff, limit);
	const range = c.row<ScannedRange>(SCAN, cutoff, cutoff + DISORDER_MS, latest, from, limit)!;
	const { last } = range;
	const deleted = range.old === 0 ? 0 : deleteAttempts(c, cutoff, from, last);
	const over = range.rows < limit || range.unsure === 0;
	return { deleted, next: over ? null : last + 1 };
}

const SCAN = `
	SELECT count(*) AS rows, max(no) AS last, total(started_at < ?) AS old, total(started_at < ? OR started_at > ?) AS unsure
	FROM (SELECT no, started_at FROM attempts WHERE no >= ? ORDER BY no LIMIT ?)`;
type ScannedRange = { readonly rows: number; readonly last: number; readonly old: number; readonly unsure: number };

/** Deletes those that began before `cutoff` among the rows from `from` through `last`. Returns how many. */
function deleteAttempts(c: Connection, cutoff: number, from: number, last: number): number {
	countThrough(c, last);
	for (const { webhook_no } of c.rows<{ webhook_no: number }>(DEAD_LETTERS, from, last, cutoff))
		addToCounters(c, webhook_no, 0, -1);
	const deleted = c.run(DELETE_ATTEMPTS, from, last, cutoff);
	followEnd(c);
	return deleted;
}

const DELETE_ATTEMPTS = "DELETE FROM attempts NOT INDEXED WHERE no >= ? AND no <= ? AND started_at < ?";

/** Without its last attempt in the log, a delivery is no longer a dead letter. */
const DEAD_LETTERS = `
	SELECT a.webhook_no FROM attempts a NOT INDEXED
	WHERE a.no >= ? AND a.no <= ? AND a.started_at < ? AND a.status = ${STATUS_CODE.failed} AND a.seq > 0
		AND a.dismissed_at IS NULL AND a.no = (
			SELECT no FROM attempts WHERE project_no = a.project_no AND seq = a.seq AND webhook_no = a.webhook_no
			ORDER BY replay DESC, attempt DESC LIMIT 1
		)
		AND NOT EXISTS (
			SELECT 1 FROM retries WHERE project_no = a.project_no AND seq = a.seq AND webhook_no = a.webhook_no
		)`;

/** Deletes the rest of webhooks deleted long ago: retries that couldn't be closed, and finally the row. */
function sweepDeletedWebhooks(c: Connection, cutoff: number, limit: number): void {
	const waiting = c.row<{ no: number }>(WITH_RETRIES, cutoff);
	if (waiting !== undefined) c.run(DELETE_RETRIES, waiting.no, limit);
	c.run(DELETE_WEBHOOKS, cutoff, limit);
}

const WITH_RETRIES = `
	SELECT no FROM webhooks WHERE deleted_at < ? AND EXISTS (SELECT 1 FROM retries WHERE webhook_no = webhooks.no) LIMIT 1`;
const DELETE_RETRIES = `
	DELETE FROM retries WHERE (project_no, seq, webhook_no) IN (
		SELECT project_no, seq, webhook_no FROM retries WHERE webhook_no = ? LIMIT ?)`;
const DELETE_WEBHOOKS = `
	DELETE FROM webhooks WHERE no IN (
		SELECT no FROM webhooks WHERE deleted_at < ?
			AND NOT EXISTS (SELECT 1 FROM attempts WHERE webhook_no = webhooks.no)
			AND NOT EXISTS (SELECT 1 FROM retries WHERE webhook_no = webhooks.no) LIMIT ?)`;

/** Events are in the order in which they were appended, so a pass ends at the first that is recent enough. */
export function sweepEvents(
	c: Connection,
	{ cutoff, limit, from, latest = Number.POSITIVE_INFINITY }: Params<"sweepEvents">,
): EventSweepStep {
	const found = c.rows<EventRow>(NEXT, from, limit);
	const rows = withinBytes(found, RETENTION.bytesPerStep, ({ bytes }) => bytes);
	const last = rows.at(-1);
	if (last === undefined) return { deleted: 0, next: null, unattempted: [] };
	const range = [from, last.no, cutoff] as const;
	const old = rows.filter((row) => row.published_at < cutoff);
	const waiting = waitingIn(c, old);
	const unattempted = new Set([...projectsWithOverdue(c, range), ...waiting.map(({ project_no }) => project_no)]);
	const deleted = old.length > 0 ? c.run(DELETE_EVENTS, ...range, JSON.stringify(waiting.map(({ no }) => no))) : 0;
	for (const project of unattempted) wakeForChange(c, project);
	const isRecent = (at: number): boolean => at >= cutoff && at <= latest;
	const over = (rows.length === found.length && rows.length < limit) || isRecent(last.published_at);
	return {
		deleted,
		next: over ? null : last.no + 1,
		unattempted: [...unattempted].map((no) => c.row<{ id: string }>("SELECT id FROM projects WHERE no = ?", no)!.id),
	};
}

const NEXT = `
	SELECT no, project_no, seq, type, published_at, length(body) AS bytes FROM events WHERE no >= ? ORDER BY no LIMIT ?`;
type EventRow = {
	readonly no: number;
	readonly project_no: number;
	readonly seq: number;
	readonly type: number;
	readonly published_at: number;
	readonly bytes: number;
};

/** The numbers of the first row and the last one, and the time before which events are old. */
type Range = readonly [from: number, last: number, cutoff: number];

/** Leaves out events that wait in a lane: the last parameter lists them. */
const DELETE_EVENTS = `
	DELETE FROM events NOT INDEXED WHERE no >= ? AND no <= ? AND published_at < ?
		AND NOT EXISTS (SELECT 1 FROM attempts WHERE project_no = events.project_no AND seq = events.seq)
		AND NOT EXISTS (SELECT 1 FROM retries WHERE project_no = events.project_no AND seq = events.seq)
		AND no NOT IN (SELECT value FROM json_each(?))`;

const OPEN = `
	SELECT l.open FROM webhooks w CROSS JOIN lanes l ON l.webhook_no = w.no
	WHERE w.project_no = ? AND w.deleted_at IS NULL AND l.open IS NOT NULL`;
const WANTED = `
	SELECT min(max(s.from_seq, l.position)) AS seq
	FROM webhooks w CROSS JOIN subscriptions s ON s.webhook_no = w.no CROSS JOIN lanes l ON l.webhook_no = w.no
	WHERE w.project_no = ? AND w.deleted_at IS NULL AND s.type = ?`;

/**
 * Those of these events that a lane has yet to reach, or started and hasn't settled, even if it no longer wants their
 * type.
 */
function waitingIn(c: Connection, events: readonly EventRow[]): EventRow[] {
	return [...Map.groupBy(events, ({ project_no, type }) => `${project_no}/${type}`).values()].flatMap((ofType) => {
		const { project_no, type } = ofType[0]!;
		const after = c.row<{ seq: number | null }>(WANTED, project_no, type)!.seq ?? Number.POSITIVE_INFINITY;
		const open = new Set(c.rows(OPEN, project_no).flatMap((lane) => decodeOpen(lane.open)));
		return ofType.filter(({ seq }) => seq > 0 && (open.has(seq) || seq > after));
	});
}

/**
 * Projects with a next attempt of one of these events that has been due for longer than the log is kept, because its
 * webhook is paused.
 */
function projectsWithOverdue(c: Connection, [from, last, cutoff]: Range): number[] {
	return c.rows<{ project_no: number }>(OVERDUE, from, last, cutoff, cutoff).map(({ project_no }) => project_no);
}

const OVERDUE = `
	SELECT project_no FROM events NOT INDEXED WHERE no >= ? AND no <= ? AND published_at < ? AND EXISTS (
		SELECT 1 FROM retries WHERE project_no = events.project_no AND seq = events.seq AND due_at < ?)`;
