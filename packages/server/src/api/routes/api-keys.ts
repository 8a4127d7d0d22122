import { actorOf, apiKeyFaults } from "../../accounts/index.ts";
import { isId } from "../../base/ids.ts";
import { invalid, notFound } from "../http/problem.ts";
import { pageById } from "../http/query.ts";
import { parseTime } from "../http/time.ts";
import type { ApiParts } from "../parts.ts";
import { defineRoute, type Route } from "../route.ts";
import { ApiKeyList, CreatedApiKey, NewApiKey, PageQuerySchema } from "../schemas/index.ts";
import { presentApiKey } from "../schemas/projects.ts";

export function apiKeyRoutes({ apiKeys }: Pick<ApiParts, "apiKeys">): Route[] {
	const tag = "API keys";
	const path = "/v1/projects/{project_id}/api-keys";
	return [
		defineRoute({
			method: "POST",
			path,
			operationId: "createApiKey",
			tag,
			summary: "Create an API key",
			description:
				"The key can only access this project, within its scopes. It is shown only in this response. Keys can't create keys.",
			access: "developer",
			peopleOnly: true,
			body: NewApiKey,
			faults: apiKeyFaults,
			success: { status: 201, description: "The key, shown only in this response.", schema: CreatedApiKey },
			async handler({ params: { project_id: projectId }, body, principal, audit }) {
				const { name, scopes, expires_at } = body;
				const expiresAt = expires_at === undefined ? null : parseTime(expires_at);
				const result = await apiKeys.create({ projectId, name, scopes, expiresAt, createdBy: actorOf(principal) });
				if (result.kind === "invalid") throw invalid(result.faults);
				const { last_used_at: _, ...created } = presentApiKey(result.apiKey);
				audit({
					projectId,
					action: "api_key.created",
					target: { kind: "api_key", id: created.id, name },
					detail: { scopes: created.scopes, expires_at: created.expires_at },
				});
				return { ...created, key: result.key };
			},
		}),
		defineRoute({
			method: "GET",
			path,
			operationId: "listApiKeys",
			tag,
			summary: "List API keys",
			description: "Oldest first, without the keys themselves. Expired keys are listed until they are deleted.",
			access: "developer",
			query: PageQuerySchema,
			success: { status: 200, description: "A page of keys.", schema: ApiKeyList },
			handler: ({ params, query }) =>
				pageById(
					"apiKey",
					query,
					(page) => apiKeys.list(params.project_id, page),
					({ id }) => id,
					presentApiKey,
				),
		}),
		defineRoute({
			method: "DELETE",
			path: `${path}/{key_id}`,
			operationId: "deleteApiKey",
			tag,
			summary: "Delete an API key",
			description:
				"It is refused from then on. Other nodes are notified immediately; a node that misses the notification refuses it within five seconds.",
			access: "developer",
			success: { status: 204, description: "The key was deleted." },
			async handler({ params: { project_id, key_id }, audit }) {
				const key = isId("apiKey", key_id) ? await apiKeys.get(project_id, key_id) : null;
				if (!key || !(await apiKeys.delete(project_id, key_id))) throw notFound("API key");
				const target = { kind: "api_key", id: key.id, name: key.name };
				audit({ projectId: project_id, action: "api_key.revoked", target });
			},
		}),
	];
}
