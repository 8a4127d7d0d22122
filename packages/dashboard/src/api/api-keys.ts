import { queryOptions } from "@tanstack/react-query";
import { api } from "./client.ts";
import { projectKey } from "./keys.ts";
import type { Schemas } from "./operation.ts";
import { queryClient } from "./query-client.ts";

export type ApiKey = Schemas["ApiKey"];
export type CreatedApiKey = Schemas["CreatedApiKey"];

const KEYS = "/v1/projects/{project_id}/api-keys";

export const apiKeysQuery = (projectId: string) =>
	queryOptions({
		queryKey: projectKey(projectId, "api-keys"),
		queryFn: ({ signal }) => api.get(KEYS, { path: { project_id: projectId }, query: { limit: 200 }, signal }),
	});

const refresh = (projectId: string) => queryClient.invalidateQueries({ queryKey: projectKey(projectId, "api-keys") });

export async function createApiKey(projectId: string, name: string): Promise<CreatedApiKey> {
	const created = await api.post(KEYS, { path: { project_id: projectId }, body: { name } });
	await refresh(projectId);
	return created;
}

export async function revokeApiKey(projectId: string, keyId: string): Promise<void> {
	await api.delete(`${KEYS}/{key_id}`, { path: { project_id: projectId, key_id: keyId } });
	await refresh(projectId);
}
