import type { ApiKey, Page } from "../port.ts";
import type { Connection } from "./connection.ts";

const KEY = `
	SELECT k.id, p.id AS project_id, k.name, k.prefix, k.created_at, k.last_used_at
	FROM api_keys k JOIN projects p ON p.no = k.project_no`;

const toKey = (row: Record<string, unknown>): ApiKey => ({
	id: row.id as string,
	projectId: row.project_id as string,
	name: row.name as string,
	prefix: row.prefix as string,
	createdAt: row.created_at as number,
	lastUsedAt: row.last_used_at as number | null,
});

export function createApiKey(c: Connection, key: Omit<ApiKey, "lastUsedAt">, hash: Uint8Array): void {
	const project = c.names.project(key.projectId);
	if (project === null) throw new Error(`An API key was made for project ${key.projectId}, which is not there.`);
	c.sql("INSERT INTO api_keys (id, project_no, name, prefix, hash, created_at) VALUES (?, ?, ?, ?, ?, ?)").run(
		key.id,
		project,
		key.name,
		key.prefix,
		hash,
		key.createdAt,
	);
}

export function listApiKeys(c: Connection, projectId: string, page: Page): ApiKey[] {
	return c
		.sql(`${KEY} WHERE k.project_no = ? AND k.id > ? ORDER BY k.id LIMIT ?`)
		.all(c.names.project(projectId), page.after ?? "", page.limit)
		.map(toKey);
}

export function getApiKey(c: Connection, projectId: string, keyId: string): ApiKey | null {
	const row = c.sql(`${KEY} WHERE k.id = ? AND k.project_no = ?`).get(keyId, c.names.project(projectId));
	return row === undefined ? null : toKey(row);
}

export function deleteApiKey(c: Connection, projectId: string, keyId: string): boolean {
	const { changes } = c
		.sql("DELETE FROM api_keys WHERE id = ? AND project_no = ?")
		.run(keyId, c.names.project(projectId));
	return changes === 1;
}

export function findApiKey(c: Connection, hash: Uint8Array): ApiKey | null {
	const row = c.sql(`${KEY} WHERE k.hash = ?`).get(hash);
	return row === undefined ? null : toKey(row);
}

/** A key's last use never moves back. */
export function touchApiKeys(c: Connection, uses: ReadonlyMap<string, number>): void {
	const touch = c.sql("UPDATE api_keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?");
	for (const [id, at] of uses) touch.run(at, id);
}

export function getSetting(c: Connection, name: string): string | null {
	const row = c.sql("SELECT value FROM settings WHERE name = ?").get(name);
	return row === undefined ? null : (row.value as string);
}

export function initSetting(c: Connection, name: string, value: string): string {
	c.sql("INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING").run(name, value);
	return getSetting(c, name) ?? value;
}
