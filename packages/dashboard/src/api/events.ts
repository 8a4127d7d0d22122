import { queryOptions } from "@tanstack/react-query";
import { INDEXING_MS } from "./attempts.ts";
import { api } from "./client/client.ts";
import { projectKey } from "./client/keys.ts";
import type { Schemas } from "./client/operation.ts";

/** An event that a search has found. */
export type EventMatch = Schemas["EventMatch"];

const SEARCH = "/v1/projects/{project_id}/events/search";

interface ReferenceFilter {
	readonly order_id?: readonly string[];
	readonly customer_email?: readonly string[];
}

/** The newest events of an order or a customer, whether or not they were delivered to anyone. */
export const referencedEventsQuery = (projectId: string, filter: ReferenceFilter) =>
	queryOptions({
		queryKey: projectKey(projectId, "events", "referenced", filter),
		queryFn: ({ signal }) => api.get(SEARCH, { path: { project_id: projectId }, query: filter, signal }),
		refetchInterval: ({ state: { data } }) => (data?.searched?.complete === false ? INDEXING_MS : false),
	});

/** One step of a search for a text in events and responses, newest first; `cursor` is null for the first one. */
export const searchTexts = (projectId: string, text: string, cursor: string | null, signal: AbortSignal) =>
	api.get(SEARCH, { path: { project_id: projectId }, query: { text, cursor, limit: 50 }, signal });
