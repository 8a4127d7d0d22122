/** API keys, by their hashes. */
import type { ApiKey, Page } from "../port/registry.ts";
import { greatest, skipLocked } from "./dialect.ts";
import { fragment, sql } from "./sql.ts";
import { findProject, row, rows, type Steps, tellPeers, together } from "./verb.ts";

/** A key, of `api_keys k`. The project comes from a separate query: it is always looked up by its key. */
const KEY = fragment(`
	k.id, (SELECT p.id FROM posthorn.projects p WHERE p.no = k.project_no) AS "projectId", k.name, k.prefix,
	k.created_at AS "createdAt", k.last_used_at AS "lastUsedAt"`);

interface KeyOf {
	readonly projectId: string;
	readonly keyId: string;
}

export function* createApiKey(p: Omit<ApiKey, "lastUsedAt"> & { readonly hash: Uint8Array }): Steps<void> {
	const project = yield* findProject(p.projectId);
	if (project === null) throw new Error(`Project ${p.projectId} of an API key doesn't exist.`);
	yield* row(sql`
		INSERT INTO posthorn.api_keys (id, project_no, name, prefix, hash, created_at)
		VALUES (${p.id}, ${project}, ${p.name}, ${p.prefix}, ${p.hash}, ${p.createdAt})`);
}

/** By id. */
export function* listApiKeys({ projectId, after = "", limit }: Page & { readonly projectId: string }): Steps<ApiKey[]> {
	const project = yield* findProject(projectId);
	return yield* rows<ApiKey>(sql`
		SELECT ${KEY} FROM posthorn.api_keys k
		WHERE k.project_no = ${project} AND k.id > ${after} ORDER BY k.id LIMIT ${limit}`);
}

/** Null if the project has no such key. */
export function* getApiKey({ projectId, keyId }: KeyOf): Steps<ApiKey | null> {
	const project = yield* findProject(projectId);
	const found = yield* row<ApiKey>(sql`
		SELECT ${KEY} FROM posthorn.api_keys k WHERE k.id = ${keyId} AND k.project_no = ${project}`);
	return found ?? null;
}

/** False if the project has no such key. Other nodes get a hint, so that they soon stop trusting it. */
export function* deleteApiKey({ projectId, keyId }: KeyOf): Steps<boolean> {
	const project = yield* findProject(projectId);
	const deleted = yield* rows(sql`
		DELETE FROM posthorn.api_keys WHERE id = ${keyId} AND project_no = ${project} RETURNING id`);
	if (project === null || deleted.length === 0) return false;
	yield* tellPeers(project);
	return true;
}

export function* findApiKey({ hash }: { readonly hash: Uint8Array }): Steps<ApiKey | null> {
	const found = yield* row<ApiKey>(sql`SELECT ${KEY} FROM posthorn.api_keys k WHERE k.hash = ${hash}`);
	return found ?? null;
}

/**
 * Records when keys were last used, which never moves back. A locked row is skipped: the key's next use is recorded. Nodes
 * that record the same keys do so in the order of their ids, so they don't wait for each other.
 */
export function* touchApiKeys({ uses }: { readonly uses: ReadonlyMap<string, number> }): Steps<void> {
	const inOrder = [...uses].sort(([a], [b]) => (a < b ? -1 : 1));
	yield* together(
		...inOrder.map(
			([id, at]) => sql`
				UPDATE posthorn.api_keys SET last_used_at = ${greatest}(coalesce(last_used_at, 0), ${at})
				WHERE id = (SELECT id FROM posthorn.api_keys WHERE id = ${id}${skipLocked})`,
		),
	);
}
