import { usePrefetchQuery, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { newestAttemptsQuery } from "../../api/attempts.ts";
import { incidentsQuery, webhookHealthQuery } from "../../api/health.ts";
import { useProjectId } from "../../api/session.ts";
import { webhookQuery } from "../../api/webhooks.ts";

/** Incidents of one webhook that its page shows. */
export const INCIDENTS_SHOWN = 5;
export const RECENT_SHOWN = 8;

/** Its newest attempts, which its page lists. */
export const recentAttemptsQuery = (projectId: string, webhookId: string) =>
	newestAttemptsQuery(projectId, { webhook_id: [webhookId] }, RECENT_SHOWN);

/** The webhook in the address bar, its health, and its newest attempts. */
export function useWebhook() {
	const projectId = useProjectId();
	const { webhookId } = useParams({ from: "/signed-in/p/$projectId/developer/webhooks/$webhookId" });
	const webhook = useQuery(webhookQuery(projectId, webhookId));
	const health = useQuery(webhookHealthQuery(projectId, webhookId));
	const recent = useQuery(recentAttemptsQuery(projectId, webhookId));
	// The first tab shows them at its top, so they load together with the webhook.
	usePrefetchQuery(incidentsQuery(projectId, { webhookId, limit: INCIDENTS_SHOWN }));
	return { projectId, webhookId, webhook, health, recent };
}
