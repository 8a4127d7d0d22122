import type { LaneState, LoadedLanes, Params, Retry, WebhookStatus } from "../../port.ts";
import { QUEUE_CODE } from "../../shared/attempt-codes.ts";
import { closingLane } from "../../shared/closing-lane.ts";
import type { Connection } from "../connection/connection.ts";
import { readHandedOver } from "../leases/handover.ts";
import { decodeOpen } from "./settle.ts";

export function loadLanes(c: Connection, { projectId, webhookId }: Params<"loadLanes">): LoadedLanes {
	const project = c.sql("SELECT no, last_seq, revision FROM projects WHERE id = ?").get(projectId);
	if (project === undefined) return { lanes: [], seen: { lastSeq: 0, revision: 0 }, handedOver: [] };
	const which = webhookId === undefined ? [project.no as number] : [project.no as number, webhookId];
	const rows = c
		.sql(`
			SELECT w.no, w.id, w.url, w.status, w.max_in_flight, w.sealed_digest, l.position, l.open, l.skip_through
			FROM webhooks w JOIN lanes l ON l.webhook_no = w.no
			WHERE w.project_no = ? AND w.deleted_at IS NULL${webhookId === undefined ? "" : " AND w.id = ?"} ORDER BY w.id`)
		.all(...which);
	const lanes = rows.map(
		(row): LaneState => ({
			webhookId: row.id as string,
			url: row.url as string,
			status: row.status as WebhookStatus,
			maxInFlight: row.max_in_flight as number,
			sealedDigest: row.sealed_digest as Uint8Array,
			subscriptions: readSubscriptions(c, row.no as number),
			position: row.position as number,
			open: decodeOpen(row.open),
			skipThrough: row.skip_through as number,
		}),
	);
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

export function endDeletion(c: Connection, { projectId, webhookId }: Params<"endDeletion">): void {
	const project = c.names.project(projectId);
	const webhook = project === null ? null : c.names.webhook(project, webhookId);
	if (webhook === null) return;
	c.sql(`
		UPDATE webhooks SET closing = 0
		WHERE no = ?1 AND NOT EXISTS (SELECT 1 FROM retries WHERE webhook_no = ?1)`).run(webhook);
}

export function readRetries(
	c: Connection,
	{ projectId, webhookId, queue, limit, after }: Params<"readRetries">,
): Retry[] {
	const project = c.names.project(projectId);
	const webhook = project === null ? null : c.names.webhook(project, webhookId);
	if (webhook === null) return [];
	const place = after ?? { dueAt: Number.MIN_SAFE_INTEGER, seq: Number.MIN_SAFE_INTEGER };
	return c
		.sql(`
			SELECT seq, replay, attempt, due_at FROM retries
			WHERE webhook_no = ? AND queue = ? AND (due_at, seq) > (?, ?) ORDER BY due_at, seq LIMIT ?`)
		.all(webhook, QUEUE_CODE[queue], place.dueAt, place.seq, limit)
		.map((row) => ({
			webhookId,
			seq: row.seq as number,
			queue,
			replay: row.replay as number,
			attempt: row.attempt as number,
			dueAt: row.due_at as number,
		}));
}
