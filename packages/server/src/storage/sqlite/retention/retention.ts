import type { Params, SweepStep } from "../../port.ts";
import { STATUS_CODE } from "../../shared/deliveries.ts";
import type { Connection } from "../connection/connection.ts";
import { newestAttempt } from "../history/attempts.ts";
import { countThrough, followEnd, sweepStats } from "../history/stats.ts";
import { addToCounters, decodeOpen, hasRetry, ringForChange } from "../lanes/lanes.ts";
import type { LeaseTime } from "../leases/leases.ts";

/** Attempts are logged when they end, so they aren't exactly in the order in which they began. */
const DISORDER_MS = 600_000;

/**
 * Attempts are roughly in the order in which they began, so a pass continues until everything scanned began well after
 * the cutoff. Old counts are deleted before, in separate steps.
 */
export function sweepAttempts(
	c: Connection,
	{ cutoff, limit, from, latest = Number.POSITIVE_INFINITY }: Params<"sweepAttempts">,
	{ now }: LeaseTime,
): SweepStep {
	if (from === 0 && sweepStats(c, cutoff, now, limit)) return { deleted: 0, next: 0, unattempted: [] };
	if (from === 0) sweepDeletedWebhooks(c, cutoff, limit);
	const rows = c
		.sql(`
			SELECT no, project_no, webhook_no, seq, replay, attempt, status, started_at FROM attempts
			WHERE no >= ? ORDER BY no LIMIT ?`)
		.all(from, limit);
	const last = rows.at(-1);
	const old = rows.filter((row) => (row.started_at as number) < cutoff);
	if (old.length > 0) countThrough(c, old.at(-1)!.no as number);
	for (const row of old) {
		forgetDeadLetter(c, row);
		c.sql("DELETE FROM attempts WHERE no = ?").run(row.no as number);
	}
	if (old.length > 0) followEnd(c);
	const isRecent = (at: number): boolean => at >= cutoff + DISORDER_MS && at <= latest;
	const over = rows.length < limit || rows.every((row) => isRecent(row.started_at as number));
	return { deleted: old.length, next: over || last === undefined ? null : (last.no as number) + 1, unattempted: [] };
}

/** Without its last attempt in the log, a delivery is no longer a dead letter. */
function forgetDeadLetter(c: Connection, row: Record<string, unknown>): void {
	if (row.status !== STATUS_CODE.failed || (row.seq as number) < 0) return;
	const [project, webhook, seq] = [row.project_no as number, row.webhook_no as number, row.seq as number];
	const newest = newestAttempt(c, project, webhook, seq);
	if (newest === null || newest.replay !== row.replay || newest.attempt !== row.attempt || newest.dismissed) return;
	if (!hasRetry(c, project, webhook, seq)) addToCounters(c, webhook, 0, -1);
}

/** Deletes the rest of webhooks deleted long ago: retries that couldn't be closed, and finally the row. */
function sweepDeletedWebhooks(c: Connection, cutoff: number, limit: number): void {
	const waiting = c
		.sql(`
			SELECT no FROM webhooks WHERE deleted_at < ?
				AND EXISTS (SELECT 1 FROM retries WHERE webhook_no = webhooks.no) LIMIT 1`)
		.get(cutoff);
	if (waiting !== undefined) deleteRetries(c, waiting.no as number, limit);
	c.sql(`
		DELETE FROM webhooks WHERE no IN (
			SELECT no FROM webhooks WHERE deleted_at < ?
				AND NOT EXISTS (SELECT 1 FROM attempts WHERE webhook_no = webhooks.no)
				AND NOT EXISTS (SELECT 1 FROM retries WHERE webhook_no = webhooks.no) LIMIT ?)`).run(cutoff, limit);
}

/** Deletes up to `limit` pending attempts of a webhook. Returns how many. */
function deleteRetries(c: Connection, webhookNo: number, limit: number): number {
	const { changes } = c
		.sql(`
			DELETE FROM retries WHERE (project_no, seq, webhook_no) IN
				(SELECT project_no, seq, webhook_no FROM retries WHERE webhook_no = ? LIMIT ?)`)
		.run(webhookNo, limit);
	return Number(changes);
}

/** Events are in the order in which they were appended, so a pass ends at the first that is recent enough. */
export function sweepEvents(
	c: Connection,
	{ cutoff, limit, from, latest = Number.POSITIVE_INFINITY }: Params<"sweepEvents">,
): SweepStep {
	const rows = c
		.sql("SELECT no, project_no, seq, type, published_at FROM events WHERE no >= ? ORDER BY no LIMIT ?")
		.all(from, limit);
	const lanesOf = new Map<number, WantedFrom[]>();
	const unattempted = new Set<number>();
	let deleted = 0;
	for (const row of rows) {
		if ((row.published_at as number) >= cutoff) continue;
		const project = row.project_no as number;
		const seq = row.seq as number;
		const lanes = lanesOf.get(project) ?? readWantedFrom(c, project);
		lanesOf.set(project, lanes);
		const waits = lanes.some((lane) => waitsIn(lane, row.type as number, seq));
		if (waits || isOverdue(c, project, seq, cutoff)) unattempted.add(project);
		if (waits || isReferredTo(c, project, seq)) continue;
		c.sql("DELETE FROM events WHERE no = ?").run(row.no as number);
		deleted++;
	}
	for (const project of unattempted) ringForChange(c, project);
	const last = rows.at(-1);
	const isRecent = (at: number): boolean => at >= cutoff && at <= latest;
	const over = rows.length < limit || last === undefined || isRecent(last.published_at as number);
	return {
		deleted,
		next: over ? null : (last.no as number) + 1,
		unattempted: [...unattempted].map((no) => c.sql("SELECT id FROM projects WHERE no = ?").get(no)!.id as string),
	};
}

/** What a lane has yet to attempt. */
interface WantedFrom {
	/** For each type, the `seq` after which it is subscribed. */
	readonly types: ReadonlyMap<number, number>;
	readonly position: number;
	readonly open: readonly number[];
}

function readWantedFrom(c: Connection, projectNo: number): WantedFrom[] {
	const lanes = c
		.sql(`
			SELECT w.no, l.position, l.open FROM webhooks w JOIN lanes l ON l.webhook_no = w.no
			WHERE w.project_no = ? AND w.deleted_at IS NULL`)
		.all(projectNo);
	return lanes.map((lane) => {
		const rows = c.sql("SELECT type, from_seq FROM subscriptions WHERE webhook_no = ?").all(lane.no as number);
		return {
			types: new Map(rows.map((row) => [row.type as number, row.from_seq as number])),
			position: lane.position as number,
			open: decodeOpen(lane.open),
		};
	});
}

/** Whether a lane has yet to reach an event, or started and hasn't settled it, even if it no longer wants its type. */
function waitsIn({ types, position, open }: WantedFrom, type: number, seq: number): boolean {
	const from = types.get(type);
	return seq > 0 && (open.includes(seq) || (from !== undefined && seq > from && seq > position));
}

/** Whether a next attempt of the event has been due for longer than the log is kept, because its webhook is paused. */
function isOverdue(c: Connection, projectNo: number, seq: number, cutoff: number): boolean {
	const { overdue } = c
		.sql("SELECT EXISTS (SELECT 1 FROM retries WHERE project_no = ? AND seq = ? AND due_at < ?) AS overdue")
		.get(projectNo, seq, cutoff)!;
	return overdue === 1;
}

function isReferredTo(c: Connection, projectNo: number, seq: number): boolean {
	const row = c
		.sql(`
			SELECT EXISTS (SELECT 1 FROM attempts WHERE project_no = ?1 AND seq = ?2)
				OR EXISTS (SELECT 1 FROM retries WHERE project_no = ?1 AND seq = ?2) AS referred`)
		.get(projectNo, seq);
	return row?.referred === 1;
}
