import { queryOptions } from "@tanstack/react-query";
import { INDEXING_MS } from "./attempts.ts";
import { api } from "./client/client.ts";
import { ifStatus } from "./client/error.ts";
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

/** An event of the log, whether or not it was delivered to anyone; null if the log doesn't have it. */
export const eventQuery = (projectId: string, eventId: string) =>
	queryOptions({
		queryKey: projectKey(projectId, "events", "one", eventId),
		queryFn: async ({ signal }) => {
			let seq = 0;
			const call = api.get("/v1/projects/{project_id}/events/{event_id}", {
				path: { project_id: projectId, event_id: eventId },
				signal,
				onHeaders: (headers) => {
					seq = Number(headers.get("x-posthorn-seq"));
				},
			});
			const event = await call.catch(ifStatus(404, null));
			return event && { id: eventId, seq, type: event.type };
		},
	});

/** One step of a search for a text in events and responses, newest first; `cursor` is null for the first one. */
export const searchTexts = (projectId: string, text: string, cursor: string | null, signal: AbortSignal) =>
	api.get(SEARCH, { path: { project_id: projectId }, query: { text, cursor, limit: 50 }, signal });
