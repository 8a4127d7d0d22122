export { Changes } from "./changes.ts";
export { SessionCookie } from "./cookie.ts";
export { createMetrics, type Metrics } from "./metrics.ts";
export type { ApiParts } from "./parts.ts";
export { createApi } from "./server.ts";
