import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { webhookHealthQuery } from "../../api/health.ts";
import { useProjectId } from "../../api/session.ts";
import { webhookQuery } from "../../api/webhooks.ts";

/** The webhook in the address bar and its health. */
export function useWebhook() {
	const projectId = useProjectId();
	const { webhookId } = useParams({ from: "/signed-in/p/$projectId/developer/webhooks/$webhookId" });
	const webhook = useQuery(webhookQuery(projectId, webhookId));
	const health = useQuery(webhookHealthQuery(projectId, webhookId));
	return { projectId, webhookId, webhook, health };
}
