import { usePrefetchQuery, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { incidentsQuery, webhookHealthQuery } from "../../api/health.ts";
import { useProjectId } from "../../api/session.ts";
import { webhookQuery } from "../../api/webhooks.ts";

/** Incidents of one webhook that its page shows. */
export const INCIDENTS_SHOWN = 5;

/** The webhook in the address bar and its health. */
export function useWebhook() {
	const projectId = useProjectId();
	const { webhookId } = useParams({ from: "/signed-in/p/$projectId/developer/webhooks/$webhookId" });
	const webhook = useQuery(webhookQuery(projectId, webhookId));
	const health = useQuery(webhookHealthQuery(projectId, webhookId));
	// The first tab shows them at its top, so they load together with the webhook.
	usePrefetchQuery(incidentsQuery(projectId, { webhookId, limit: INCIDENTS_SHOWN }));
	return { projectId, webhookId, webhook, health };
}
