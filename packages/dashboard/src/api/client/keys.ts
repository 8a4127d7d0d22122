/**
 * Query keys: `["project", id, resource, …]`. A live hint invalidates whole resources, so each query of a project is
 * filed under the resource whose change it follows.
 */
export type Resource =
	| "webhooks"
	| "health"
	| "incidents"
	| "attempts"
	| "deliveries"
	| "stats"
	| "waiting"
	| "events"
	| "api-keys"
	| "members"
	| "invitations"
	| "audit";

export const projectKey = (projectId: string, resource: Resource, ...rest: readonly unknown[]) =>
	["project", projectId, resource, ...rest] as const;

/** What to refetch after each hint of `GET …/changes`. */
export const HINTED = {
	attempts: ["attempts", "deliveries", "stats", "health", "waiting", "events"],
	webhooks: ["webhooks", "health", "waiting"],
} as const satisfies Record<string, readonly Resource[]>;

export type Hint = keyof typeof HINTED;
