import { queryOptions } from "@tanstack/react-query";
import { api } from "./client/client.ts";
import { projectKey } from "./client/keys.ts";
import type { Schemas } from "./client/operation.ts";

/** An outage of a receiver as one thing. */
export type Incident = Schemas["Incident"];

/** Hints come with every attempt, and incidents change slowly: polled at this interval, in milliseconds. */
const REFRESH_MS = 30_000;

/** The incidents of the last 48 hours, newest first, of a webhook or of the project. */
export const incidentsQuery = (projectId: string, { webhookId, limit }: { webhookId?: string; limit: number }) =>
	queryOptions({
		queryKey: projectKey(projectId, "incidents", webhookId ?? null, limit),
		queryFn: async ({ signal }) => {
			const path = { project_id: projectId };
			const query = { webhook_id: webhookId, limit };
			return (await api.get("/v1/projects/{project_id}/incidents", { path, query, signal })).data;
		},
		refetchInterval: REFRESH_MS,
	});
