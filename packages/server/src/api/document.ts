import { readConfig } from "../config/index.ts";
import { openApiDocument } from "./openapi.ts";
import type { ApiParts } from "./parts.ts";
import type { Route } from "./route.ts";
import { apiRoutes } from "./routes/index.ts";

/** The OpenAPI document of a service with default settings, made without a service: routes use their parts only when called. */
export function documentedApi(): Record<string, unknown> {
	const defaults = readConfig({ env: {} });
	if (!defaults.ok) throw new Error(`The default settings are not acceptable: ${defaults.faults.join(" ")}`);
	const { config } = defaults;
	const routes: Route[] = apiRoutes({ config } as Partial<ApiParts> as ApiParts, () => "");
	return openApiDocument(routes, config);
}
