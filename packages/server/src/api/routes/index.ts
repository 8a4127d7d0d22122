/** Every route, in the order of the documentation. */
import type { ApiParts, Route } from "../route.ts";
import { StorageCheck } from "../storage-check.ts";
import { attemptRoutes } from "./log/attempts.ts";
import { deliveryRoutes } from "./log/deliveries.ts";
import { dismissalRoutes } from "./log/dismissals.ts";
import { eventSearchRoutes } from "./log/event-search.ts";
import { exportRoutes } from "./log/exports.ts";
import { replayRoutes } from "./log/replays.ts";
import { retryRoutes } from "./log/retries.ts";
import { signatureCheckRoutes } from "./log/signature-check.ts";
import { accountRoutes } from "./people/account.ts";
import { auditRoutes } from "./people/audit.ts";
import { invitationRoutes } from "./people/invitations.ts";
import { memberRoutes } from "./people/members.ts";
import { sessionRoutes, setupRoutes } from "./people/session.ts";
import { projectHealthRoutes } from "./project-health.ts";
import { apiKeyRoutes, projectRoutes } from "./projects.ts";
import { eventTypeRoutes } from "./publishing/event-types.ts";
import { eventRoutes } from "./publishing/events.ts";
import { factRoutes } from "./publishing/facts.ts";
import { orderRoutes } from "./publishing/orders.ts";
import { publishRoutes } from "./publishing/publish.ts";
import { quarantineRoutes } from "./system/quarantine.ts";
import { docsRoutes, problemRoutes, systemRoutes } from "./system/system.ts";
import { incidentRoutes } from "./webhooks/incidents.ts";
import { changeRoutes, insightRoutes } from "./webhooks/insight.ts";
import { webhookRoutes } from "./webhooks/webhooks.ts";

/** @param openApi the document's JSON text, made at the first request for it */
export function apiRoutes(
	parts: ApiParts,
	openApi: () => string | Uint8Array,
	storageCheck = new StorageCheck(parts),
): Route[] {
	return [
		...projectRoutes(parts),
		...projectHealthRoutes(parts),
		...apiKeyRoutes(parts),
		...eventTypeRoutes(parts),
		...publishRoutes(parts),
		...eventRoutes(parts),
		...eventSearchRoutes(parts),
		...orderRoutes(parts),
		...factRoutes(parts),
		...webhookRoutes(parts),
		...attemptRoutes(parts),
		...exportRoutes(parts),
		...signatureCheckRoutes(parts),
		...deliveryRoutes(parts),
		...replayRoutes(parts),
		...retryRoutes(parts),
		...dismissalRoutes(parts),
		...insightRoutes(parts),
		...incidentRoutes(parts),
		...changeRoutes(parts),
		...setupRoutes(parts),
		...sessionRoutes(parts),
		...accountRoutes(parts),
		...memberRoutes(parts),
		...invitationRoutes(parts),
		...auditRoutes(parts),
		...systemRoutes(parts, storageCheck),
		...quarantineRoutes(parts),
		...problemRoutes(),
		...docsRoutes(openApi),
	];
}
