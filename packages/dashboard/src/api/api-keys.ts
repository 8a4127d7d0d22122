import { queryOptions } from "@tanstack/react-query";
import { api } from "./client/client.ts";
import { projectKey } from "./client/keys.ts";
import type { Schemas } from "./client/operation.ts";
import { queryClient } from "./client/query-client.ts";

export type ApiKey = Schemas["ApiKey"];
export type CreatedApiKey = Schemas["CreatedApiKey"];

const KEYS = "/v1/projects/{project_id}/api-keys";

export const apiKeysQuery = (projectId: string) =>
	queryOptions({
		queryKey: projectKey(projectId, "api-keys"),
		queryFn: ({ signal }) => api.get(KEYS, { path: { project_id: projectId }, query: { limit: 200 }, signal }),
	});

/** The keys that an account created in the project, all of them. */
export const apiKeysByQuery = (projectId: string, accountId: string) =>
	queryOptions({
		queryKey: projectKey(projectId, "api-keys", { by: accountId }),
		queryFn: async ({ signal }) => {
			const keys: ApiKey[] = [];
			for (let cursor: string | null = null; ; ) {
				const page: { readonly data: readonly ApiKey[]; readonly next_cursor: string | null } = await api.get(KEYS, {
					path: { project_id: projectId },
					query: { limit: 200, ...(cursor !== null && { cursor }) },
					signal,
				});
				keys.push(...page.data.filter(({ created_by }) => created_by?.id === accountId));
				cursor = page.next_cursor;
				if (cursor === null) return keys;
			}
		},
	});

const refresh = (projectId: string) => queryClient.invalidateQueries({ queryKey: projectKey(projectId, "api-keys") });

export async function createApiKey(projectId: string, body: Schemas["NewApiKey"]): Promise<CreatedApiKey> {
	const created = await api.post(KEYS, { path: { project_id: projectId }, body });
	await refresh(projectId);
	return created;
}

export async function revokeApiKey(projectId: string, keyId: string): Promise<void> {
	await api.delete(`${KEYS}/{key_id}`, { path: { project_id: projectId, key_id: keyId } });
	await refresh(projectId);
}
