import { queryOptions } from "@tanstack/react-query";
import { api } from "./client/client.ts";
import { projectKey } from "./client/keys.ts";
import type { Schemas } from "./client/operation.ts";
import { allRows } from "./client/pages.ts";
import { queryClient } from "./client/query-client.ts";
import type { EventType } from "./model.ts";

export type Webhook = Schemas["Webhook"];
/** With its secret, which is shown only now. */
export type CreatedWebhook = Schemas["CreatedWebhook"];
export type NewWebhook = Schemas["NewWebhook"];
/** What names a deleted webhook in the log. */
export type DeletedWebhook = Schemas["DeletedWebhook"];
export type WebhookPatch = Schemas["WebhookPatch"];
/** Where a resumed webhook continues: with its backlog, or with events from now on. */
export type ResumeFrom = NonNullable<WebhookPatch["from"]>;
/** The result of checking a URL without sending anything to it. */
export type UrlCheck = Schemas["UrlCheck"];
export type UrlCheckName = UrlCheck["checks"][number]["name"];
export type UrlCheckState = UrlCheck["checks"][number]["state"];

const WEBHOOKS = "/v1/projects/{project_id}/webhooks";
const WEBHOOK = `${WEBHOOKS}/{webhook_id}` as const;

const pathOf = (projectId: string, webhookId: string) => ({ project_id: projectId, webhook_id: webhookId });

/** All webhooks of a project, in the order of creation. */
export const webhooksQuery = (projectId: string) =>
	queryOptions({
		queryKey: projectKey(projectId, "webhooks", "all"),
		queryFn: ({ signal }) => allRows(WEBHOOKS, projectId, signal),
	});

/** Deleted webhooks whose deliveries may still be in the log, in the order of creation. */
export const deletedWebhooksQuery = (projectId: string) =>
	queryOptions({
		queryKey: projectKey(projectId, "webhooks", "deleted"),
		queryFn: ({ signal }) => allRows(`${WEBHOOKS}/deleted`, projectId, signal),
	});

export const webhookQuery = (projectId: string, webhookId: string) =>
	queryOptions({
		queryKey: projectKey(projectId, "webhooks", webhookId),
		queryFn: ({ signal }) => api.get(WEBHOOK, { path: pathOf(projectId, webhookId), signal }),
	});

/** Refetches everything that a change of webhooks affects. */
export const refreshWebhooks = (projectId: string) =>
	Promise.all([
		queryClient.invalidateQueries({ queryKey: projectKey(projectId, "webhooks") }),
		queryClient.invalidateQueries({ queryKey: projectKey(projectId, "health") }),
	]);

/** Doesn't wait for the list: only this response has the secret. */
export async function createWebhook(projectId: string, body: NewWebhook): Promise<CreatedWebhook> {
	const created = await api.post(WEBHOOKS, { path: { project_id: projectId }, body });
	void refreshWebhooks(projectId);
	return created;
}

export async function changeWebhook(projectId: string, webhookId: string, body: WebhookPatch): Promise<Webhook> {
	const webhook = await api.patch(WEBHOOK, { path: pathOf(projectId, webhookId), body });
	queryClient.setQueryData(webhookQuery(projectId, webhookId).queryKey, webhook);
	await refreshWebhooks(projectId);
	return webhook;
}

/**
 * Deletes a webhook and drops it from the cache immediately, so that no page requests it. Call {@link refreshWebhooks} once
 * its page has been left.
 */
export async function deleteWebhook(projectId: string, webhookId: string): Promise<void> {
	await api.delete(WEBHOOK, { path: pathOf(projectId, webhookId) });
	queryClient.setQueryData(webhooksQuery(projectId).queryKey, (all) => all?.filter(({ id }) => id !== webhookId));
}

/** Creates a new secret; the old one signs nothing from then on. Doesn't wait, like {@link createWebhook}. */
export async function rotateSecret(projectId: string, webhookId: string): Promise<string> {
	const { secret } = await api.post(`${WEBHOOK}/rotate-secret`, {
		path: pathOf(projectId, webhookId),
	});
	void refreshWebhooks(projectId);
	return secret;
}

/** Sends a sample event to this webhook only, and returns the event's id. */
export async function sendTest(projectId: string, webhookId: string, type: EventType): Promise<string> {
	const { event_id } = await api.post(`${WEBHOOK}/test`, {
		path: pathOf(projectId, webhookId),
		body: { type },
	});
	return event_id;
}

/** Checks a URL against the rules for webhooks, and resolves its host name; sends nothing to it. */
export const urlCheckQuery = (projectId: string, url: string) =>
	queryOptions({
		queryKey: ["url-check", projectId, url] as const,
		queryFn: ({ signal }) =>
			api.post(`${WEBHOOKS}/check-url`, {
				path: { project_id: projectId },
				body: { url },
				signal,
			}),
		staleTime: 60_000,
	});
