import type { Params, ReplayFilter, ReplayResult, RetryQueue, TestEventResult } from "../../port.ts";
import { STATUS_CODE, toAttemptId, toStoredId } from "../../shared/attempt-codes.ts";
import { idRange } from "../../shared/id-range.ts";
import type { Connection } from "../connection/connection.ts";
import { findEventPosition, isQueued, newestAttempt, standingOf } from "../history/delivery.ts";
import { mergedRanges } from "../history/merge.ts";
import { addToCounters, putRetry } from "../lanes/retries.ts";
import { ringForChange } from "../leases/alarm.ts";
import type { LeaseTime } from "../leases/leases.ts";

export function appendTestEvent(
	c: Connection,
	{ projectId, webhookId, event }: Params<"appendTestEvent">,
	{ now }: LeaseTime,
): TestEventResult {
	const project = c.names.project(projectId);
	const webhook = project === null ? null : liveWebhook(c, project, webhookId);
	if (project === null || webhook === null) return "no_webhook";
	const type = c.names.internType(event.type);
	const subscribed = c.sql("SELECT 1 FROM subscriptions WHERE webhook_no = ? AND type = ?").get(webhook, type);
	if (subscribed === undefined) return "not_subscribed";
	const seq = c
		.sql("UPDATE projects SET last_test_seq = last_test_seq - 1 WHERE no = ? RETURNING last_test_seq AS seq")
		.get(project)!.seq as number;
	c.sql(`
		INSERT INTO events (project_no, seq, id, type, created_at, published_at, body) VALUES (?, ?, ?, ?, ?, ?, ?)`).run(
		project,
		seq,
		event.id,
		type,
		event.createdAt,
		now,
		event.body,
	);
	const waiting = putRetry(c, project, webhook, { seq, queue: "requested", replay: 0, attempt: 1, dueAt: now });
	addToCounters(c, webhook, waiting, 0);
	ringForChange(c, project);
	return "queued";
}

export function replayDelivery(
	c: Connection,
	{ projectId, webhookId, eventId, at }: Params<"replayDelivery">,
): ReplayResult {
	const project = c.names.project(projectId);
	const webhook = project === null ? null : c.names.webhook(project, webhookId);
	const event = project === null ? null : findEventPosition(c, project, eventId);
	if (project === null || webhook === null || event === null) return { kind: "no_delivery" };
	const standing = standingOf(c, project, webhook, event);
	if (standing === null) return { kind: "no_delivery" };
	if (standing.kind !== "over") return { kind: "attempting" };
	beginSeries(c, project, webhook, "requested", event.seq, standing.replay + 1, at);
	addToCounters(c, webhook, 1, standing.status === "failed" ? -1 : 0);
	ringForChange(c, project);
	return { kind: "queued", replay: standing.replay + 1 };
}

/** Scans up to `limit` failed attempts, and skips those whose delivery has continued since. */
export function replayFailed(
	c: Connection,
	{ projectId, webhookId, filter, at, limit, after }: Params<"replayFailed">,
): { count: number; next: string | null } {
	const project = c.names.project(projectId);
	const webhook = project === null ? null : liveWebhook(c, project, webhookId);
	if (project === null || webhook === null) return { count: 0, next: null };
	const failed = readFailed(c, webhook, filter, limit, after);
	let count = 0;
	for (const { seq, replay, attempt } of failed) {
		const newest = newestAttempt(c, project, webhook, seq);
		if (newest?.replay !== replay || newest.attempt !== attempt || isQueued(c, project, webhook, seq)) continue;
		beginSeries(c, project, webhook, "replay", seq, replay + 1, at);
		count++;
	}
	if (count > 0) {
		addToCounters(c, webhook, count, -count);
		ringForChange(c, project);
	}
	const last = failed.at(-1);
	return { count, next: last === undefined || failed.length < limit ? null : toAttemptId(last.id) };
}

interface FailedAttempt {
	readonly id: string;
	readonly seq: number;
	readonly replay: number;
	readonly attempt: number;
}

function readFailed(
	c: Connection,
	webhookNo: number,
	filter: ReplayFilter,
	limit: number,
	after: string | undefined,
): FailedAttempt[] {
	const types = c.names.allTypes();
	if (types.length === 0) return [];
	const ranges = types.map(
		(type) => `
			SELECT id, seq, replay, attempt FROM attempts
			WHERE webhook_no = ?1 AND status = ${STATUS_CODE.failed} AND type = ${type} AND id > ?2 AND id >= ?3 AND id < ?4`,
	);
	const { from, to } = idRange(filter);
	return c
		.sql(mergedRanges(ranges, "id"))
		.all(webhookNo, after === undefined ? "" : toStoredId(after), from, to, limit)
		.map((row) => row as unknown as FailedAttempt);
}

export function beginSeries(
	c: Connection,
	projectNo: number,
	webhookNo: number,
	queue: RetryQueue,
	seq: number,
	replay: number,
	at: number,
) {
	putRetry(c, projectNo, webhookNo, { seq, queue, replay, attempt: 1, dueAt: at });
}

export function liveWebhook(c: Connection, projectNo: number, webhookId: string): number | null {
	const row = c
		.sql("SELECT no FROM webhooks WHERE project_no = ? AND id = ? AND deleted_at IS NULL")
		.get(projectNo, webhookId);
	return row === undefined ? null : (row.no as number);
}
