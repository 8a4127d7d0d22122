import type { Params, WaitingRetry } from "../../port.ts";
import { QUEUE_CODE, queueOf } from "../../shared/attempt-codes.ts";
import type { Connection } from "../connection/connection.ts";
import { liveWebhook } from "../replay/replay.ts";

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
	for (const webhook of webhooksOf(c, project, webhookId)) {
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

function webhooksOf(c: Connection, project: number, webhookId: string | null): number[] {
	if (webhookId !== null) {
		const webhook = liveWebhook(c, project, webhookId);
		return webhook === null ? [] : [webhook];
	}
	return c
		.sql("SELECT no FROM webhooks WHERE project_no = ? AND deleted_at IS NULL ORDER BY id")
		.all(project)
		.map((row) => row.no as number);
}

function toWaiting(c: Connection, project: number, row: Row): WaitingRetry {
	const event = c.sql("SELECT id, type FROM events WHERE project_no = ? AND seq = ?").get(project, row.seq as number);
	if (event === undefined)
		throw new Error(`Event ${row.seq} of project number ${project} is pending but doesn't exist.`);
	return {
		webhookId: c.names.webhookId(row.webhook_no as number),
		eventId: event.id as string,
		eventType: c.names.typeName(event.type as number),
		queue: queueOf(row.queue),
		attempt: row.attempt as number,
		replay: row.replay as number,
		dueAt: row.due_at as number,
	};
}
