import type { ApiParts } from "../parts.ts";
import type { Route } from "../route.ts";
import { accountRoutes } from "./account.ts";
import { apiKeyRoutes } from "./api-keys.ts";
import { attemptRoutes } from "./attempts.ts";
import { auditRoutes } from "./audit.ts";
import { changeRoutes } from "./changes.ts";
import { deliveryRoutes } from "./deliveries.ts";
import { docsRoutes } from "./docs.ts";
import { eventTypeRoutes } from "./event-types.ts";
import { eventRoutes } from "./events.ts";
import { basketRoutes } from "./facts-baskets.ts";
import { factsOfOrdersRoutes } from "./facts-of-orders.ts";
import { orderFactRoutes } from "./facts-orders.ts";
import { subscriptionRoutes } from "./facts-subscriptions.ts";
import { insightRoutes } from "./insight.ts";
import { invitationRoutes } from "./invitations.ts";
import { memberRoutes } from "./members.ts";
import { projectRoutes } from "./projects.ts";
import { replayRoutes } from "./replays.ts";
import { sessionRoutes } from "./session.ts";
import { setupRoutes } from "./setup.ts";
import { systemRoutes } from "./system.ts";
import { webhookRoutes } from "./webhooks.ts";

/** Every route, in the order in which the documentation tells them. */
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
