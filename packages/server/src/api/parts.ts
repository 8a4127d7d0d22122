import type { ApiKeys } from "../accounts/index.ts";
import type { Clock } from "../base/clock.ts";
import type { IdSource } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config/config.ts";
import type { Engine } from "../engine/engine.ts";
import type { Projects, Webhooks } from "../registry/index.ts";
import type { Storage } from "../storage/port.ts";
import type { Metrics } from "./metrics.ts";

/** What the API is built from. */
export interface ApiParts {
	readonly config: Pick<Config, "brand" | "maxEventBytes" | "maxUrlLength" | "maxDescriptionLength">;
	readonly storage: Storage;
	readonly engine: Engine;
	readonly projects: Projects;
	readonly webhooks: Webhooks;
	readonly apiKeys: ApiKeys;
	readonly metrics: Metrics;
	readonly clock: Clock;
	readonly ids: IdSource;
	readonly logger: Logger;
	/** Whether the engine takes work; true unless said. */
	readonly ready?: () => boolean;
}
