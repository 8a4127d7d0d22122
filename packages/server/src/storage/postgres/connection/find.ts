import type { Session } from "./session.ts";
import { sql } from "./sql.ts";

const FIND_PROJECT = sql("SELECT no FROM posthorn.projects WHERE id = $1");

/** The project's number, or null when there is no such project. */
export async function findProject(c: Session, projectId: string): Promise<number | null> {
	const known = c.names.projects.get(projectId);
	if (known !== undefined) return known;
	const row = await c.row<{ no: number }>(FIND_PROJECT, projectId);
	if (row === undefined) return null;
	c.names.projects.set(projectId, row.no);
	c.names.projectIds.set(row.no, projectId);
	return row.no;
}

const FIND_WEBHOOK = sql(`
	SELECT w.no, w.project_no FROM posthorn.webhooks w WHERE w.project_no = $1 AND w.id = $2`);

/** The number of a webhook of this project, deleted or not; null when there is none. */
export async function findWebhook(c: Session, projectNo: number, webhookId: string): Promise<number | null> {
	const known = c.names.webhooks.get(webhookId);
	if (known !== undefined) return known.projectNo === projectNo ? known.no : null;
	const row = await c.row<{ no: number }>(FIND_WEBHOOK, projectNo, webhookId);
	if (row === undefined) return null;
	c.names.webhooks.set(webhookId, { no: row.no, projectNo });
	return row.no;
}
