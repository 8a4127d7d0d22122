import type { ApiKeys, Audit, Guesses, Members, People, Sessions } from "../accounts/index.ts";
import type { Clock } from "../base/clock.ts";
import type { IdSource } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config/index.ts";
import type { Engine } from "../engine/engine.ts";
import type { Shortages } from "../net/shortages.ts";
import type { Projects } from "../registry/projects.ts";
import type { UrlCheck } from "../registry/url-check.ts";
import type { Webhooks } from "../registry/webhooks.ts";
import type { Storage } from "../storage/port.ts";
import type { Store } from "../store/index.ts";
import type { SessionCookie } from "./auth/authorize.ts";
import type { ConnectionLimits } from "./http/connections.ts";
import type { Changes } from "./live/changes.ts";
import type { Arrivals } from "./live/long-poll.ts";
import type { Metrics } from "./metrics/metrics.ts";

/** What the API is built from. */
export interface ApiParts {
	readonly config: Pick<
		Config,
		| "brand"
		| "retryDelaysMs"
		| "maxEventBytes"
		| "maxBatchBytes"
		| "maxBodyBytesInFlight"
		| "maxUrlLength"
		| "maxDescriptionLength"
		| "trustProxy"
	>;
	readonly storage: Storage;
	readonly engine: Engine;
	readonly store: Store;
	readonly projects: Projects;
	readonly webhooks: Webhooks;
	readonly urlCheck: UrlCheck;
	readonly apiKeys: ApiKeys;
	readonly people: People;
	readonly sessions: Sessions;
	readonly members: Members;
	readonly auditLog: Audit;
	readonly guesses: Guesses;
	readonly cookie: SessionCookie;
	/** Where users reach the dashboard: an origin, such as `https://hooks.example.com`. */
	readonly publicUrl: () => string;
	/** The folder of the built dashboard; null if it wasn't built. */
	readonly dashboardFolder: string | null;
	readonly changes: Changes;
	readonly arrivals: Arrivals;
	readonly metrics: Metrics;
	readonly clock: Clock;
	readonly ids: IdSource;
	readonly logger: Logger;
	/** By default, those of base/budgets.ts. */
	readonly connectionLimits?: Partial<ConnectionLimits>;
	/** This node's current shortages, for readiness. */
	readonly shortages?: Pick<Shortages, "current">;
	/** Whether the engine accepts work; by default, it does. */
	readonly ready?: () => boolean;
}
