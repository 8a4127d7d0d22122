/** Changes of webhooks. Each locks all of its project, so that lanes and queues don't change meanwhile. */
import type { Params, Webhook } from "../../port.ts";
import { getWebhook } from "../../verbs/webhooks.ts";
import { findProject, typeCode } from "../connection/names.ts";
import type { Session } from "../connection/session.ts";
import { numberArray, sql } from "../connection/session.ts";
import { lockProject, ringForChange } from "../lanes/locks.ts";
import { findLiveWebhook } from "../lanes/replay.ts";
import type { PostgresNode } from "../node.ts";
import { runVerb } from "../run-verb.ts";

const COUNT = sql(`
	SELECT count(*) AS count FROM posthorn.webhooks WHERE project_no = $1 AND deleted_at IS NULL`);
const CREATE = sql(`
	WITH made AS (
		INSERT INTO posthorn.webhooks (project_no, id, url, description, status, max_in_flight, sealed_digest, created_at,
			sealed_standard_digest, standard_webhooks)
		VALUES ($1, $2, $3, $4, 'active', $5, $6, $7, $10, $11) RETURNING no
	), lane AS (
		INSERT INTO posthorn.lanes (project_no, webhook_no, position) SELECT $1, no, $8 FROM made
	)
	INSERT INTO posthorn.subscriptions (project_no, webhook_no, type, from_seq)
	SELECT $1, no, type, $8 FROM made CROSS JOIN unnest($9::integer[]) AS type`);

export async function createWebhook(
	c: Session,
	{ maxPerProject, ...webhook }: Params<"createWebhook">,
): Promise<"created" | "limit" | "no_project"> {
	const project = await findProject(c, webhook.projectId);
	if (project === null) return "no_project";
	const { lastSeq } = await lockProject(c, project);
	const there = await c.row<{ count: number }>(COUNT, project);
	if (there!.count >= maxPerProject) return "limit";
	const { id, url, description, maxInFlight, sealedDigest, createdAt } = webhook;
	const standard = [webhook.sealedStandardDigest ?? null, webhook.standardWebhooks ?? false] as const;
	const types = codesOf(c, webhook.events);
	await Promise.all([
		c.run(CREATE, project, id, url, description, maxInFlight, sealedDigest, createdAt, lastSeq, types, ...standard),
		ringForChange(c, project),
	]);
	return "created";
}

const UPDATE = sql(`
	UPDATE posthorn.webhooks
	SET url = coalesce($3, url), description = coalesce($4, description), status = coalesce($5, status),
		max_in_flight = coalesce($6, max_in_flight), standard_webhooks = coalesce($7, standard_webhooks)
	WHERE project_no = $1 AND no = $2`);
const UNSUBSCRIBE = sql(`
	DELETE FROM posthorn.subscriptions WHERE project_no = $1 AND webhook_no = $2 AND NOT type = ANY ($3::integer[])`);
/** Types already subscribed to keep their start. */
const SUBSCRIBE = sql(`
	INSERT INTO posthorn.subscriptions (project_no, webhook_no, type, from_seq)
	SELECT $1, $2, type, $4 FROM unnest($3::integer[]) AS type ON CONFLICT DO NOTHING`);
const MOVE_TO_END = sql(`
	UPDATE posthorn.lanes SET position = $3, open = '{}', skip_through = $3 WHERE project_no = $1 AND webhook_no = $2`);

export async function updateWebhook(
	c: Session,
	{ projectId, webhookId, patch }: Params<"updateWebhook">,
): Promise<Webhook | null> {
	const found = await holdWebhook(c, projectId, webhookId);
	if (found === null) return null;
	const { project, webhook, lastSeq } = found;
	const { url = null, description = null, status = null, maxInFlight = null, standardWebhooks = null } = patch;
	const types = patch.events === undefined ? null : codesOf(c, patch.events);
	await Promise.all([
		c.run(UPDATE, project, webhook, url, description, status, maxInFlight, standardWebhooks),
		...(types === null
			? []
			: [c.run(UNSUBSCRIBE, project, webhook, types), c.run(SUBSCRIBE, project, webhook, types, lastSeq)]),
		...(patch.from === "now" ? [c.run(MOVE_TO_END, project, webhook, lastSeq)] : []),
		ringForChange(c, project),
	]);
	return runVerb(c, getWebhook({ projectId, webhookId }));
}

const DELETE = sql(`
	UPDATE posthorn.webhooks SET deleted_at = $3, sealed_digest = '', sealed_standard_digest = NULL, closing = EXISTS (
		SELECT FROM (
			SELECT FROM posthorn.retries WHERE project_no = $1 AND webhook_no = $2 ORDER BY queue, due_at, seq LIMIT 1
		) pending
	)
	WHERE project_no = $1 AND no = $2`);
const DELETE_LANE = sql("DELETE FROM posthorn.lanes WHERE project_no = $1 AND webhook_no = $2");
const DELETE_SUBSCRIPTIONS = sql("DELETE FROM posthorn.subscriptions WHERE project_no = $1 AND webhook_no = $2");

export async function deleteWebhook(
	c: Session,
	{ projectId, webhookId }: Params<"deleteWebhook">,
	node: PostgresNode,
): Promise<boolean> {
	const found = await holdWebhook(c, projectId, webhookId);
	if (found === null) return false;
	const { project, webhook } = found;
	await Promise.all([
		c.run(DELETE, project, webhook, node.clock.now()),
		c.run(DELETE_LANE, project, webhook),
		c.run(DELETE_SUBSCRIPTIONS, project, webhook),
		ringForChange(c, project),
	]);
	return true;
}

const DELETE_RETRIES = sql(`
	DELETE FROM posthorn.retries WHERE ctid = ANY (ARRAY(
		SELECT ctid FROM posthorn.retries WHERE project_no = $1 AND webhook_no = $2 ORDER BY queue, due_at, seq LIMIT $3
	))`);

/**
 * Deletes up to `limit` pending attempts of a webhook, for a caller that holds the project's deliveries. Returns how
 * many.
 */
export function deleteRetries(c: Session, projectNo: number, webhookNo: number, limit: number): Promise<number> {
	return c.run(DELETE_RETRIES, projectNo, webhookNo, limit);
}

/** Locks all of the project. Null if the webhook doesn't exist. */
async function holdWebhook(
	c: Session,
	projectId: string,
	webhookId: string,
): Promise<{ project: number; webhook: number; lastSeq: number } | null> {
	const project = await findProject(c, projectId);
	if (project === null) return null;
	const { lastSeq } = await lockProject(c, project);
	const webhook = await findLiveWebhook(c, project, webhookId);
	return webhook === null ? null : { project, webhook, lastSeq };
}

const codesOf = (c: Session, events: readonly string[]): string =>
	numberArray([...new Set(events)].map((type) => typeCode(c.names, type)));
