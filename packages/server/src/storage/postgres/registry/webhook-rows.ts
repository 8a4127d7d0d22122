import type { Params, Webhook, WebhookStatus } from "../../port.ts";
import { findProject } from "../connection/find.ts";
import type { Row, Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";

/** What {@link toWebhook} needs of `webhooks w`. */
export const WEBHOOK_COLUMNS = `
	w.id, w.url, w.description, w.status, w.max_in_flight, w.created_at,
	ARRAY(
		SELECT t.name
		FROM posthorn.subscriptions s
			CROSS JOIN LATERAL (SELECT name FROM posthorn.event_types WHERE code = s.type OFFSET 0) t
		WHERE s.project_no = w.project_no AND s.webhook_no = w.no ORDER BY t.name
	) AS events`;

const GET = sql(`
	SELECT ${WEBHOOK_COLUMNS} FROM posthorn.webhooks w WHERE w.project_no = $1 AND w.id = $2 AND w.deleted_at IS NULL`);

export async function getWebhook(c: Session, { projectId, webhookId }: Params<"getWebhook">): Promise<Webhook | null> {
	const project = await findProject(c, projectId);
	const row = project === null ? undefined : await c.row(GET, project, webhookId);
	return row === undefined ? null : toWebhook(projectId, row);
}

export const toWebhook = (projectId: string, row: Row): Webhook => ({
	id: row.id as string,
	projectId,
	url: row.url as string,
	description: row.description as string,
	events: row.events as string[],
	status: row.status as WebhookStatus,
	maxInFlight: row.max_in_flight as number,
	createdAt: row.created_at as number,
});
