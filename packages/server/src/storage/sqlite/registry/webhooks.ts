import type { Params, Webhook } from "../../port.ts";
import { getWebhook } from "../../verbs/webhooks.ts";
import type { Connection } from "../connection/connection.ts";
import { ringForChange } from "../lanes/lanes.ts";
import type { LeaseTime } from "../leases/leases.ts";
import { runVerb } from "../run-verb.ts";

export function createWebhook(
	c: Connection,
	{ maxPerProject, ...webhook }: Params<"createWebhook">,
): "created" | "limit" | "no_project" {
	const project = c.sql("SELECT no, last_seq FROM projects WHERE id = ?").get(webhook.projectId);
	if (project === undefined) return "no_project";
	const projectNo = project.no as number;
	const lastSeq = project.last_seq as number;
	const there = c
		.sql("SELECT count(*) AS count FROM webhooks WHERE project_no = ? AND deleted_at IS NULL")
		.get(projectNo)!;
	if ((there.count as number) >= maxPerProject) return "limit";
	const { lastInsertRowid: webhookNo } = c
		.sql(`
			INSERT INTO webhooks (id, project_no, url, description, status, max_in_flight, sealed_digest,
				sealed_standard_digest, standard_webhooks, created_at)
			VALUES (?, ?, ?, ?, 'active', ?, ?, ?, ?, ?)`)
		.run(
			webhook.id,
			projectNo,
			webhook.url,
			webhook.description,
			webhook.maxInFlight,
			webhook.sealedDigest,
			webhook.sealedStandardDigest ?? null,
			Number(webhook.standardWebhooks ?? false),
			webhook.createdAt,
		);
	c.sql("INSERT INTO lanes (webhook_no, position) VALUES (?, ?)").run(webhookNo, lastSeq);
	subscribe(c, Number(webhookNo), webhook.events, lastSeq);
	ringForChange(c, projectNo);
	return "created";
}

/** Types already subscribed to keep their start. */
function subscribe(c: Connection, webhookNo: number, events: readonly string[], lastSeq: number): void {
	const insert = c.sql(
		"INSERT INTO subscriptions (webhook_no, type, from_seq) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
	);
	for (const type of new Set(events)) insert.run(webhookNo, c.names.internType(type), lastSeq);
}

export function updateWebhook(c: Connection, { projectId, webhookId, patch }: Params<"updateWebhook">): Webhook | null {
	const found = findWebhook(c, projectId, webhookId);
	if (found === null) return null;
	const { no, projectNo, lastSeq } = found;
	c.sql(`
		UPDATE webhooks SET url = coalesce(?, url), description = coalesce(?, description),
			status = coalesce(?, status), max_in_flight = coalesce(?, max_in_flight),
			standard_webhooks = coalesce(?, standard_webhooks)
		WHERE no = ?`).run(
		patch.url ?? null,
		patch.description ?? null,
		patch.status ?? null,
		patch.maxInFlight ?? null,
		patch.standardWebhooks === undefined ? null : Number(patch.standardWebhooks),
		no,
	);
	if (patch.events !== undefined) {
		const wanted = patch.events.map((type) => c.names.internType(type));
		c.sql("DELETE FROM subscriptions WHERE webhook_no = ? AND type NOT IN (SELECT value FROM json_each(?))").run(
			no,
			JSON.stringify(wanted),
		);
		subscribe(c, no, patch.events, lastSeq);
	}
	if (patch.from === "now")
		c.sql("UPDATE lanes SET position = ?1, open = NULL, skip_through = ?1 WHERE webhook_no = ?2").run(lastSeq, no);
	ringForChange(c, projectNo);
	return runVerb(c, getWebhook({ projectId, webhookId }));
}

export function deleteWebhook(
	c: Connection,
	{ projectId, webhookId }: Params<"deleteWebhook">,
	{ now }: LeaseTime,
): boolean {
	const found = findWebhook(c, projectId, webhookId);
	if (found === null) return false;
	c.sql(`
		UPDATE webhooks SET deleted_at = ?2, sealed_digest = x'', sealed_standard_digest = NULL,
			closing = EXISTS (SELECT 1 FROM retries WHERE webhook_no = ?1)
		WHERE no = ?1`).run(found.no, now);
	c.sql("DELETE FROM lanes WHERE webhook_no = ?").run(found.no);
	c.sql("DELETE FROM subscriptions WHERE webhook_no = ?").run(found.no);
	ringForChange(c, found.projectNo);
	return true;
}

/** Deletes up to `limit` pending attempts of a webhook. Returns how many. */
export function deleteRetries(c: Connection, webhookNo: number, limit: number): number {
	const { changes } = c
		.sql(`
			DELETE FROM retries WHERE (project_no, seq, webhook_no) IN
				(SELECT project_no, seq, webhook_no FROM retries WHERE webhook_no = ? LIMIT ?)`)
		.run(webhookNo, limit);
	return Number(changes);
}

function findWebhook(
	c: Connection,
	projectId: string,
	webhookId: string,
): { no: number; projectNo: number; lastSeq: number } | null {
	const row = c
		.sql(`
			SELECT w.no, w.project_no, p.last_seq FROM projects p JOIN webhooks w ON w.project_no = p.no
			WHERE p.id = ? AND w.id = ? AND w.deleted_at IS NULL`)
		.get(projectId, webhookId);
	if (row === undefined) return null;
	return { no: row.no as number, projectNo: row.project_no as number, lastSeq: row.last_seq as number };
}
