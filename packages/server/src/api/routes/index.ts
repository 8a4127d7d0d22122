import type { ApiParts } from "../parts.ts";
import type { Route } from "../route.ts";
import { apiKeyRoutes } from "./api-keys.ts";
import { attemptRoutes } from "./attempts.ts";
import { deliveryRoutes } from "./deliveries.ts";
import { docsRoutes } from "./docs.ts";
import { eventTypeRoutes } from "./event-types.ts";
import { eventRoutes } from "./events.ts";
import { projectRoutes } from "./projects.ts";
import { systemRoutes } from "./system.ts";
import { webhookRoutes } from "./webhooks.ts";

/** Every route, in the order in which the documentation tells them. */
export function apiRoutes(parts: ApiParts, openApi: () => string): Route[] {
	return [
		...projectRoutes(parts),
		...apiKeyRoutes(parts),
		...eventTypeRoutes(),
		...eventRoutes(parts),
		...webhookRoutes(parts),
		...attemptRoutes(parts),
		...deliveryRoutes(parts),
		...systemRoutes(parts),
		...docsRoutes(openApi),
	];
}
