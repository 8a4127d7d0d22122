/** Schemas of requests and responses. Those with a title become components of the OpenAPI document under that name. */
export * from "./accounts.ts";
export * from "./attempts.ts";
export * from "./common.ts";
export * from "./common.ts";
export * from "./events.ts";
export * from "./facts.ts";
export * from "./insight.ts";
export * from "./members.ts";
export * from "./projects.ts";
export * from "./webhooks.ts";
