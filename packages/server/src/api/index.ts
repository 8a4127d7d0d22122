export { SessionCookie } from "./auth/authorize.ts";
export { Changes } from "./live/changes.ts";
export { createMetrics, type Metrics } from "./metrics/metrics.ts";
export type { ApiParts } from "./parts.ts";
export { createApi } from "./server.ts";
