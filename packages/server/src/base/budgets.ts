/**
 * All budgets of a node: the bytes, time and connections that one project, publisher, receiver or anonymous client may
 * use, and that all of them may use together. At a limit, only the one that reached it waits or is refused.
 *
 * A body that could never fit gets 413, one over its own budget 429, one over the node's 503; the latter two say when
 * to retry. Operators can change those that name a setting (config/settings.ts). `/metrics` shows each budget that
 * fills and drains under its name (`posthorn_budget_*`).
 */
export * from "./budgets/api.ts";
export * from "./budgets/deliveries.ts";
export * from "./budgets/node.ts";
