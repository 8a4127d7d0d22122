import { queryOptions } from "@tanstack/react-query";
import { api } from "./client.ts";
import { projectKey } from "./keys.ts";
import type { Page } from "./model.ts";
import { queryClient } from "./query-client.ts";

export interface ApiKey {
	readonly id: string;
	readonly name: string;
	readonly prefix: string;
	readonly created_at: string;
	readonly last_used_at: string | null;
}

export interface CreatedApiKey extends Omit<ApiKey, "last_used_at"> {
	readonly key: string;
}

const KEYS = "/v1/projects/{project_id}/api-keys";

export const apiKeysQuery = (projectId: string) =>
	queryOptions({
		queryKey: projectKey(projectId, "api-keys"),
		queryFn: ({ signal }) =>
			api.get<Page<ApiKey>>(KEYS, { path: { project_id: projectId }, query: { limit: 200 }, signal }),
	});

const refresh = (projectId: string) => queryClient.invalidateQueries({ queryKey: projectKey(projectId, "api-keys") });

export async function createApiKey(projectId: string, name: string): Promise<CreatedApiKey> {
	const created = await api.post<CreatedApiKey>(KEYS, { path: { project_id: projectId }, body: { name } });
	await refresh(projectId);
	return created;
}

export async function revokeApiKey(projectId: string, keyId: string): Promise<void> {
	await api.delete(`${KEYS}/{key_id}`, { path: { project_id: projectId, key_id: keyId } });
	await refresh(projectId);
}
