import { isoTime, isoTimeOrNull } from "@posthorn/protocol";
import type { Static } from "typebox";
import { actorOf, apiKeyFaults, stillMember } from "../../../accounts/index.ts";
import { KEY_SCOPES, type ApiKey as StoredKey } from "../../../storage/port.ts";
import { found, invalid, notFound } from "../../http/problem.ts";
import { parseTime } from "../../http/validate.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import {
	component,
	givenTime,
	id,
	list,
	Name,
	NewName,
	orNull,
	PageQuerySchema,
	pageById,
	request,
	Time,
	Type,
} from "../../schema.ts";
import { Actor } from "../people/members.ts";

const route = routeIn("API keys");

const scopes = (description: string) =>
	Type.Array(Type.Enum([...KEY_SCOPES], { title: "KeyScope" }), {
		minItems: 1,
		uniqueItems: true,
		description: `${description} \`publish\`: publish events and report store facts. \`read\`: read the log, webhooks and deliveries. \`manage\`: change webhooks, replay, send test events, revoke keys.`,
		examples: [["publish"]],
	});

const apiKeyFields = {
	id: id("key", "key"),
	name: Name,
	prefix: Type.String({
		description: "The key's first characters, to tell keys apart.",
		examples: ["phk_Zk3v9QxB"],
	}),
	scopes: scopes("What the key may do."),
	expires_at: orNull(Time, "When the key stops working; null if it doesn't expire."),
	created_by: orNull(Actor, "Who created the key; null for keys created before this was recorded."),
	created_at: Time,
};

const ApiKey = component("ApiKey")({
	...apiKeyFields,
	last_used_at: orNull(Time, "When it was last used, accurate to about a minute."),
});

const CreatedApiKey = component("CreatedApiKey")({
	...apiKeyFields,
	key: Type.String({ description: "The key, shown only in this response and stored as a hash." }),
});

const NewApiKey = request("NewApiKey", { examples: [{ name: "Shop", scopes: ["publish"] }] })({
	name: NewName,
	scopes: Type.Optional(scopes("What the key may do; everything by default.")),
	expires_at: Type.Optional(givenTime("When the key stops working, in the future; by default, it doesn't expire.")),
});

function presentApiKey(key: StoredKey): Static<typeof ApiKey> {
	const { id, name, prefix, scopes, expiresAt, createdBy, createdAt, lastUsedAt } = key;
	return {
		id,
		name,
		prefix,
		scopes: [...scopes],
		expires_at: isoTimeOrNull(expiresAt),
		created_by: createdBy && { ...createdBy },
		created_at: isoTime(createdAt),
		last_used_at: isoTimeOrNull(lastUsedAt),
	};
}

export function apiKeyRoutes({ apiKeys }: ApiParts): Route[] {
	const path = "/v1/projects/{project_id}/api-keys";
	return [
		route("POST", path, "createApiKey", {
			summary: "Create an API key",
			description:
				"The key can only access this project, within its scopes. It is shown only in this response. Keys can't create keys.",
			access: "developer",
			peopleOnly: true,
			body: NewApiKey,
			faults: apiKeyFaults,
			success: { status: 201, description: "The key, shown only in this response.", schema: CreatedApiKey },
			async handler({ params: { projectId }, body, principal, audit, gone }) {
				const { name, scopes, expires_at } = body;
				const expiresAt = expires_at === undefined ? null : parseTime(expires_at);
				const createdBy = actorOf(principal);
				const by = stillMember(principal, "developer");
				const result = await apiKeys.create({ projectId, name, scopes, expiresAt, createdBy, by });
				if (result.kind === "invalid") throw invalid(result.faults);
				if (result.kind === "not_member") return gone("project");
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
		route("GET", path, "listApiKeys", {
			summary: "List API keys",
			description: "Oldest first, without the keys themselves. Expired keys are listed until they are deleted.",
			access: "developer",
			query: PageQuerySchema,
			success: { status: 200, description: "A page of keys.", schema: list(ApiKey) },
			handler: ({ params, query }) =>
				pageById("apiKey", query, (page) => apiKeys.list(params.projectId, page), presentApiKey),
		}),
		route("DELETE", `${path}/{key_id}`, "deleteApiKey", {
			summary: "Delete an API key",
			description:
				"It is refused from then on. Other nodes are notified immediately; a node that misses the notification refuses it within five seconds.",
			access: "developer",
			success: { status: 204, description: "The key was deleted." },
			async handler({ params: { projectId, keyId }, audit }) {
				const key = found("API key", await apiKeys.get(projectId, keyId));
				if (!(await apiKeys.delete(projectId, keyId))) throw notFound("API key");
				const target = { kind: "api_key", id: key.id, name: key.name };
				audit({ projectId, action: "api_key.revoked", target });
			},
		}),
	];
}
