/** Every route, in the order of the documentation. */
import type { ApiParts } from "../parts.ts";
import type { Route } from "../route.ts";
import { accountRoutes } from "./account.ts";
import { apiKeyRoutes } from "./api-keys.ts";
import { attemptRoutes } from "./attempts.ts";
import { changeRoutes } from "./changes.ts";
import { deliveryRoutes, replayRoutes } from "./deliveries.ts";
import { eventTypeRoutes } from "./event-types.ts";
import { eventRoutes } from "./events.ts";
import { basketRoutes, factsOfOrdersRoutes, orderFactRoutes, subscriptionRoutes } from "./facts.ts";
import { insightRoutes } from "./insight.ts";
import { invitationRoutes } from "./invitations.ts";
import { auditRoutes, memberRoutes } from "./members.ts";
import { projectRoutes } from "./projects.ts";
import { retryRoutes } from "./retries.ts";
import { sessionRoutes, setupRoutes } from "./session.ts";
import { docsRoutes, systemRoutes } from "./system.ts";
import { webhookRoutes } from "./webhooks.ts";
export function apiRoutes(parts: ApiParts, openApi: () => string): Route[] {
	return [
		...projectRoutes(parts),
		...apiKeyRoutes(parts),
		...eventTypeRoutes(),
		...eventRoutes(parts),
		...orderFactRoutes(parts),
		...factsOfOrdersRoutes(parts),
		...basketRoutes(parts),
		...subscriptionRoutes(parts),
		...webhookRoutes(parts),
		...attemptRoutes(parts),
		...deliveryRoutes(parts),
		...replayRoutes(parts),
		...retryRoutes(parts),
		...insightRoutes(parts),
		...changeRoutes(parts),
		...setupRoutes(parts),
		...sessionRoutes(parts),
		...accountRoutes(parts),
		...memberRoutes(parts),
		...invitationRoutes(parts),
		...auditRoutes(parts),
		...systemRoutes(parts),
		...docsRoutes(openApi),
	];
}
