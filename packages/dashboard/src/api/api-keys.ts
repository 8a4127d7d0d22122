import { queryOptions } from "@tanstack/react-query";
import { api } from "./client/client.ts";
import { isStatus } from "./client/error.ts";
import { projectKey } from "./client/keys.ts";
import type { Schemas } from "./client/operation.ts";
import { allRows } from "./client/pages.ts";
import { queryClient } from "./client/query-client.ts";

export type ApiKey = Schemas["ApiKey"];
export type CreatedApiKey = Schemas["CreatedApiKey"];

const KEYS = "/v1/projects/{project_id}/api-keys";

export const apiKeysQuery = (projectId: string) =>
	queryOptions({
		queryKey: projectKey(projectId, "api-keys"),
		queryFn: ({ signal }) => allRows(KEYS, projectId, signal),
	});

/** The keys that an account created in the project. */
export const apiKeysByQuery = (projectId: string, accountId: string) =>
	queryOptions({
		queryKey: projectKey(projectId, "api-keys", { by: accountId }),
		queryFn: async ({ signal }) =>
			(await allRows(KEYS, projectId, signal)).filter(({ created_by }) => created_by?.id === accountId),
	});

const refresh = (projectId: string) => queryClient.invalidateQueries({ queryKey: projectKey(projectId, "api-keys") });

/** Doesn't wait for the list: only this response has the key. */
export async function createApiKey(projectId: string, body: Schemas["NewApiKey"]): Promise<CreatedApiKey> {
	const created = await api.post(KEYS, { path: { project_id: projectId }, body });
	void refresh(projectId);
	return created;
}

/** Revokes a key. False if someone else had already revoked it. */
export async function revokeApiKey(projectId: string, keyId: string): Promise<boolean> {
	try {
		await api.delete(`${KEYS}/{key_id}`, { path: { project_id: projectId, key_id: keyId } });
	} catch (error) {
		if (!isStatus(error, 404)) throw error;
		// This also fails if the user may no longer see the project.
		const keys = await queryClient.fetchQuery({ ...apiKeysQuery(projectId), staleTime: 0 });
		if (keys.some(({ id }) => id === keyId)) throw error;
		return false;
	}
	await refresh(projectId);
	return true;
}
