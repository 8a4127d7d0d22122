export { createMetrics, type Metrics } from "./metrics.ts";
export type { ApiParts } from "./parts.ts";
export { createApi } from "./server.ts";
