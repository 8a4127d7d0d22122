import type { ApiKey, Page } from "../port.ts";
import { BEYOND_ALL_IDS } from "../shared/id-range.ts";
import type { MemoryNode } from "./node.ts";
import { take } from "./ordered.ts";
import type { ApiKeyRow } from "./rows.ts";

/** A hash as a key. */
export const hex = (hash: Uint8Array): string => Buffer.from(hash).toString("hex");

const toKey = ({ tables }: MemoryNode, { id, projectNo, name, prefix, createdAt, lastUsedAt }: ApiKeyRow): ApiKey => {
	return { id, projectId: tables.projects.get(projectNo)!.id, name, prefix, createdAt, lastUsedAt };
};

export function createApiKey(
	{ database, tables }: MemoryNode,
	{ id, projectId, name, prefix, createdAt }: Omit<ApiKey, "lastUsedAt">,
	hash: Uint8Array,
): void {
	const project = database.project(projectId);
	if (project === undefined) throw new Error(`An API key was made for project ${projectId}, which is not there.`);
	tables.apiKeys.put({ id, projectNo: project.no, hash: hex(hash), name, prefix, createdAt, lastUsedAt: null });
}

export function listApiKeys(node: MemoryNode, projectId: string, { after = "", limit }: Page): ApiKey[] {
	const project = node.database.project(projectId);
	if (project === undefined) return [];
	const of = { projectNo: project.no };
	const walk = node.tables.apiKeys.by.project.ascending({ ...of, id: `${after} ` }, { ...of, id: BEYOND_ALL_IDS });
	return take(walk, limit).map((row) => toKey(node, row));
}

function find({ database, tables }: MemoryNode, projectId: string, keyId: string): ApiKeyRow | undefined {
	const row = tables.apiKeys.get(keyId);
	return row?.projectNo === database.project(projectId)?.no ? row : undefined;
}

export function getApiKey(node: MemoryNode, projectId: string, keyId: string): ApiKey | null {
	const row = find(node, projectId, keyId);
	return row === undefined ? null : toKey(node, row);
}

/** Other nodes are told, so that they trust the key no longer than it takes to hear of it. */
export function deleteApiKey(node: MemoryNode, projectId: string, keyId: string): boolean {
	const row = find(node, projectId, keyId);
	if (row === undefined) return false;
	node.tables.apiKeys.delete(row.id);
	node.changed(projectId);
	return true;
}

export function findApiKey(node: MemoryNode, hash: Uint8Array): ApiKey | null {
	const row = node.tables.apiKeys.by.hash.get(hex(hash));
	return row === undefined ? null : toKey(node, row);
}

/** A key's last use never moves back. */
export function touchApiKeys({ tables: { apiKeys } }: MemoryNode, uses: ReadonlyMap<string, number>): void {
	for (const [id, at] of uses) {
		const row = apiKeys.get(id);
		if (row !== undefined) apiKeys.put({ ...row, lastUsedAt: Math.max(row.lastUsedAt ?? 0, at) });
	}
}

export function getSetting({ tables }: MemoryNode, name: string): string | null {
	return tables.settings.get(name)?.value ?? null;
}

export function initSetting({ tables }: MemoryNode, name: string, value: string): string {
	if (tables.settings.get(name) === undefined) tables.settings.put({ name, value });
	return tables.settings.get(name)!.value;
}
