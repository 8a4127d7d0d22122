import type { ApiKey, Page } from "../port.ts";
import { findProject } from "./find.ts";
import type { Row, Session } from "./session.ts";
import { sql } from "./sql.ts";

/** The project comes by a query of its own: it is looked up by its key, whatever the planner knows of the tables. */
const KEY = `
	SELECT k.id, (SELECT p.id FROM posthorn.projects p WHERE p.no = k.project_no) AS project_id, k.name, k.prefix,
		k.created_at, k.last_used_at
	FROM posthorn.api_keys k`;

const toKey = (row: Row): ApiKey => ({
	id: row.id as string,
	projectId: row.project_id as string,
	name: row.name as string,
	prefix: row.prefix as string,
	createdAt: row.created_at as number,
	lastUsedAt: row.last_used_at as number | null,
});

const CREATE = sql(`
	INSERT INTO posthorn.api_keys (id, project_no, name, prefix, hash, created_at) VALUES ($1, $2, $3, $4, $5, $6)`);

export async function createApiKey(c: Session, key: Omit<ApiKey, "lastUsedAt">, hash: Uint8Array): Promise<void> {
	const { id, projectId, name, prefix, createdAt } = key;
	const project = await findProject(c, projectId);
	if (project === null) throw new Error(`An API key was made for project ${projectId}, which is not there.`);
	await c.run(CREATE, id, project, name, prefix, hash, createdAt);
}

const LIST = sql(`${KEY} WHERE k.project_no = $1 AND k.id > $2 ORDER BY k.id LIMIT $3`);

export async function listApiKeys(c: Session, projectId: string, page: Page): Promise<ApiKey[]> {
	const project = await findProject(c, projectId);
	return project === null ? [] : (await c.rows(LIST, project, page.after ?? "", page.limit)).map(toKey);
}

const GET = sql(`${KEY} WHERE k.id = $2 AND k.project_no = $1`);

export async function getApiKey(c: Session, projectId: string, keyId: string): Promise<ApiKey | null> {
	const project = await findProject(c, projectId);
	const row = project === null ? undefined : await c.row(GET, project, keyId);
	return row === undefined ? null : toKey(row);
}

const DELETE = sql("DELETE FROM posthorn.api_keys WHERE project_no = $1 AND id = $2");

/** Other nodes are told, so that they trust the key no longer than it takes to hear of it. */
export async function deleteApiKey(c: Session, projectId: string, keyId: string): Promise<boolean> {
	const project = await findProject(c, projectId);
	if (project === null || (await c.run(DELETE, project, keyId)) === 0) return false;
	c.changed.add(project);
	return true;
}

const FIND = sql(`${KEY} WHERE k.hash = $1`);

export async function findApiKey(c: Session, hash: Uint8Array): Promise<ApiKey | null> {
	const row = await c.row(FIND, hash);
	return row === undefined ? null : toKey(row);
}

/** A key's last use never moves back. A row that another session holds is skipped: the key's next use is recorded. */
const TOUCH = sql(`
	UPDATE posthorn.api_keys SET last_used_at = greatest(last_used_at, $2)
	WHERE id = (SELECT id FROM posthorn.api_keys WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED)`);

/** In the order of their ids: nodes that note the same keys do not end up waiting for each other. */
export async function touchApiKeys(c: Session, uses: ReadonlyMap<string, number>): Promise<void> {
	const inOrder = [...uses].sort(([a], [b]) => (a < b ? -1 : 1));
	await Promise.all(inOrder.map(([id, at]) => c.run(TOUCH, id, at)));
}
