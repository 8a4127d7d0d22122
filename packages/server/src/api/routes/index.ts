/** Every route, in the order of the documentation. */
import type { ApiParts, Route } from "../route.ts";
import { accountRoutes } from "./account.ts";
import { apiKeyRoutes } from "./api-keys.ts";
import { attemptRoutes } from "./attempts.ts";
import { deliveryRoutes, replayRoutes } from "./deliveries.ts";
import { deliveryListRoutes } from "./delivery-list.ts";
import { dismissalRoutes } from "./dismissals.ts";
import { eventSearchRoutes } from "./event-search.ts";
import { eventTypeRoutes } from "./event-types.ts";
import { eventRoutes } from "./events.ts";
import { exportRoutes } from "./exports.ts";
import { factRoutes } from "./facts.ts";
import { incidentRoutes } from "./incidents.ts";
import { changeRoutes, insightRoutes } from "./insight.ts";
import { invitationRoutes } from "./invitations.ts";
import { auditRoutes, memberRoutes } from "./members.ts";
import { orderRoutes } from "./orders.ts";
import { problemRoutes } from "./problems.ts";
import { projectRoutes } from "./projects.ts";
import { quarantineRoutes } from "./quarantine.ts";
import { retryRoutes } from "./retries.ts";
import { sampleRoutes } from "./samples.ts";
import { sessionRoutes, setupRoutes } from "./session.ts";
import { signatureCheckRoutes } from "./signature-check.ts";
import { docsRoutes, systemRoutes } from "./system.ts";
import { webhookRoutes } from "./webhooks.ts";
export function apiRoutes(parts: ApiParts, openApi: () => string): Route[] {
	return [
		...projectRoutes(parts),
		...apiKeyRoutes(parts),
		...eventTypeRoutes(),
		...eventRoutes(parts),
		...sampleRoutes(parts),
		...eventSearchRoutes(parts),
		...orderRoutes(parts),
		...factRoutes(parts),
		...webhookRoutes(parts),
		...attemptRoutes(parts),
		...deliveryListRoutes(parts),
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
		...systemRoutes(parts),
		...quarantineRoutes(parts),
		...problemRoutes(),
		...docsRoutes(openApi),
	];
}
