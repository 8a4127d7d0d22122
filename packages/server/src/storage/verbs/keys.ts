/** API keys, by their hashes. */
import { type Actor, type By, KEY_SCOPES } from "../port/accounts.ts";
import type { ApiKey, Page } from "../port/registry.ts";
import { mayStill } from "./members.ts";
import { fragment, greatest, skipLocked, sql } from "./sql.ts";
import { row, rows, type Steps, tellPeers, together } from "./verb.ts";

/** A key, of `api_keys k`. The project comes from a separate query: it is always looked up by its key. */
const KEY = fragment(`
	k.id, (SELECT p.id FROM posthorn.projects p WHERE p.no = k.project_no) AS "projectId", k.name, k.prefix, k.scopes,
	k.expires_at AS "expiresAt", k.creator_kind AS "creatorKind", k.creator_id AS "creatorId",
	k.creator_name AS "creatorName", k.created_at AS "createdAt", k.last_used_at AS "lastUsedAt"`);

type KeyRow = Omit<ApiKey, "scopes" | "createdBy"> & {
	/** Separated by spaces. */
	readonly scopes: string;
	readonly creatorKind: Actor["kind"] | null;
	readonly creatorId: string | null;
	readonly creatorName: string | null;
};

const toKey = ({ scopes, creatorKind, creatorId, creatorName, ...key }: KeyRow): ApiKey => {
	const granted = scopes.split(" ");
	return {
		...key,
		scopes: KEY_SCOPES.filter((scope) => granted.includes(scope)),
		createdBy: creatorKind === null ? null : { kind: creatorKind, id: creatorId, name: creatorName ?? "" },
	};
};

interface KeyOf {
	readonly keyId: string;
}

interface NewKeyRow extends Omit<ApiKey, "lastUsedAt">, By {
	readonly hash: Uint8Array;
}

/** `not_member`: `by` has lost the role. */
export function* createApiKey(project: number, p: NewKeyRow): Steps<"created" | "not_member"> {
	const { createdBy, by } = p;
	if (!(yield* mayStill(project, by))) return "not_member";
	yield* row(sql`
		INSERT INTO posthorn.api_keys (
			id, project_no, name, prefix, hash, scopes, expires_at, creator_kind, creator_id, creator_name, created_at)
		VALUES (
			${p.id}, ${project}, ${p.name}, ${p.prefix}, ${p.hash}, ${p.scopes.join(" ")}, ${p.expiresAt},
			${createdBy?.kind ?? null}, ${createdBy?.id ?? null}, ${createdBy?.name ?? null}, ${p.createdAt})`);
	return "created";
}

/** By id. */
export function* listApiKeys(project: number, { after = "", limit }: Page): Steps<ApiKey[]> {
	const found = yield* rows<KeyRow>(sql`
		SELECT ${KEY} FROM posthorn.api_keys k
		WHERE k.project_no = ${project} AND k.id > ${after} ORDER BY k.id LIMIT ${limit}`);
	return found.map(toKey);
}

/** Null if the project has no such key. */
export function* getApiKey(project: number, { keyId }: KeyOf): Steps<ApiKey | null> {
	const found = yield* row<KeyRow>(sql`
		SELECT ${KEY} FROM posthorn.api_keys k WHERE k.id = ${keyId} AND k.project_no = ${project}`);
	return found === undefined ? null : toKey(found);
}

/**
 * False if the project has no such key, or `by` has lost the right. Other nodes get a hint, so that they soon stop
 * trusting it.
 */
export function* deleteApiKey(project: number, { keyId, by }: KeyOf & By): Steps<boolean> {
	if (!(yield* mayStill(project, by))) return false;
	const deleted = yield* rows(sql`
		DELETE FROM posthorn.api_keys WHERE id = ${keyId} AND project_no = ${project} RETURNING id`);
	if (deleted.length === 0) return false;
	yield* tellPeers(project);
	return true;
}

export function* findApiKey({ hash }: { readonly hash: Uint8Array }): Steps<ApiKey | null> {
	const found = yield* row<KeyRow>(sql`SELECT ${KEY} FROM posthorn.api_keys k WHERE k.hash = ${hash}`);
	return found === undefined ? null : toKey(found);
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
