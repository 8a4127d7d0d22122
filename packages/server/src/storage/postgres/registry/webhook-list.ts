import type { Params, Webhook } from "../../port.ts";
import { findProject } from "../connection/find.ts";
import type { Session } from "../connection/session.ts";
import { sql } from "../connection/sql.ts";
import { toWebhook, WEBHOOK_COLUMNS } from "./webhook-rows.ts";

const LIST = sql(`
	SELECT ${WEBHOOK_COLUMNS} FROM posthorn.webhooks w
	WHERE w.project_no = $1 AND w.id > $2 AND w.deleted_at IS NULL ORDER BY w.id LIMIT $3`);

export async function listWebhooks(
	c: Session,
	{ projectId, after = "", limit }: Params<"listWebhooks">,
): Promise<Webhook[]> {
	const project = await findProject(c, projectId);
	if (project === null) return [];
	return (await c.rows(LIST, project, after, limit)).map((row) => toWebhook(projectId, row));
}
