import { queryOptions } from "@tanstack/react-query";
import { api } from "./client/client.ts";
import { projectKey } from "./client/keys.ts";
import type { Schemas } from "./client/operation.ts";
import { queryClient } from "./client/query-client.ts";
import { Turns } from "./client/turns.ts";

/** A webhook's health: its state, pending deliveries, and its last day. */
export type Health = Schemas["WebhookHealth"];
export type WebhookHours = Pick<Health, "webhook_id" | "hours">;
/** How many webhooks of a project have each health, and its failed deliveries that need a decision. */
export type ProjectHealth = Schemas["ProjectHealth"];
/** A pending retry or replay. */
export type Waiting = Schemas["WaitingAttempt"];

const PROJECT = "/v1/projects/{project_id}";
/** Hours pass without any hint, so poll at this interval, in milliseconds. */
export const REFRESH_MS = 60_000;

/** The health of all webhooks of a project, with empty `hours`: with thousands of webhooks, they'd be most of the response. */
export const healthQuery = (projectId: string) =>
	queryOptions({
		queryKey: projectKey(projectId, "health", "all"),
		queryFn: ({ signal }) => healthOf(projectId, { hours: "false" }, signal),
		refetchInterval: REFRESH_MS,
	});

/** The health of one webhook, with empty `hours`; null if there is none. */
export const webhookHealthQuery = (projectId: string, webhookId: string) =>
	queryOptions({
		queryKey: projectKey(projectId, "health", "of", webhookId),
		queryFn: async ({ signal }) =>
			(await healthOf(projectId, { webhook_id: [webhookId], hours: "false" }, signal))[0] ?? null,
		refetchInterval: REFRESH_MS,
	});

/** The last day of some webhooks by the hour. */
export const hoursQuery = (projectId: string, webhookIds: readonly string[]) =>
	queryOptions({
		queryKey: projectKey(projectId, "health", "hours", ...webhookIds),
		queryFn: async ({ signal }): Promise<readonly WebhookHours[]> =>
			(await healthOf(projectId, { webhook_id: webhookIds }, signal)).map(({ webhook_id, hours }) => ({
				webhook_id,
				hours,
			})),
		refetchInterval: REFRESH_MS,
	});

/** Those that are already known, of any webhooks of the project. */
export const knownHours = (projectId: string): readonly WebhookHours[] =>
	queryClient
		.getQueriesData<readonly WebhookHours[]>({ queryKey: projectKey(projectId, "health", "hours") })
		.flatMap(([, known]) => known ?? []);

const PROJECTS_HEALTH = ["projects", "health"] as const;
/** The service reads so many for a user at a time. More would keep the browser's connections from other requests. */
const turns = new Turns(2);

/**
 * A search groups the projects differently, and most of them are known. One function for all queries: each observer would
 * call another one at every rendering, and thousands of projects have a hundred.
 */
const knownHealth = (): readonly ProjectHealth[] =>
	queryClient
		.getQueriesData<readonly ProjectHealth[]>({ queryKey: PROJECTS_HEALTH })
		.flatMap(([, known]) => known ?? []);

/**
 * The health of at most 20 projects, without those that the user can't see, that lack the Developer app or are damaged.
 *
 * @param refreshMs how often it's requested, in milliseconds
 */
export const projectsHealthQuery = (projectIds: readonly string[], refreshMs = REFRESH_MS) =>
	queryOptions({
		queryKey: [...PROJECTS_HEALTH, ...projectIds],
		queryFn: async ({ signal }): Promise<readonly ProjectHealth[]> => {
			const found: ProjectHealth[] = [];
			for (let rest = projectIds; rest.length > 0; ) {
				const query = { project_id: rest };
				const call = () => api.get("/v1/projects/health", { query, signal });
				const { data, next_project_id: next } = await turns.take(call, signal);
				found.push(...data);
				// A service of an earlier version counts them all.
				const at = rest.indexOf(next ?? "");
				rest = at === -1 ? [] : rest.slice(at);
			}
			return found;
		},
		placeholderData: knownHealth,
		staleTime: refreshMs,
		refetchInterval: refreshMs,
	});

async function healthOf(
	projectId: string,
	query: { readonly webhook_id?: readonly string[]; readonly hours?: "false" },
	signal: AbortSignal,
): Promise<readonly Health[]> {
	const path = { project_id: projectId };
	return (await api.get(`${PROJECT}/webhooks/health`, { path, query, signal })).data;
}

/** Pending retries and replays of a webhook or of the project, soonest first. */
export const waitingQuery = (projectId: string, { webhookId, limit }: { webhookId?: string; limit: number }) =>
	queryOptions({
		queryKey: projectKey(projectId, "waiting", webhookId ?? null, limit),
		queryFn: async ({ signal }) => {
			const path = { project_id: projectId };
			const query = { webhook_id: webhookId, limit };
			return (await api.get(`${PROJECT}/waiting`, { path, query, signal })).data;
		},
	});

/** An outage of a receiver as one thing. */
export type Incident = Schemas["Incident"];

/** Hints come with every attempt, and incidents change slowly: polled at this interval, in milliseconds. */
const INCIDENTS_REFRESH_MS = 30_000;

/** The incidents of the last 48 hours, newest first, of a webhook or of the project. */
export const incidentsQuery = (projectId: string, { webhookId, limit }: { webhookId?: string; limit: number }) =>
	queryOptions({
		queryKey: projectKey(projectId, "incidents", webhookId ?? null, limit),
		queryFn: async ({ signal }) => {
			const path = { project_id: projectId };
			const query = { webhook_id: webhookId, limit };
			return (await api.get(`${PROJECT}/incidents`, { path, query, signal })).data;
		},
		refetchInterval: INCIDENTS_REFRESH_MS,
	});
