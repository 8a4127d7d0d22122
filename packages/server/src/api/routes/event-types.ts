import { EVENT_TYPES } from "@posthorn/protocol";
import { defineRoute, RawResponse, type Route } from "../route.ts";
import { EventTypeCatalogue } from "../schemas/index.ts";

export function eventTypeRoutes(): Route[] {
	const catalogue = JSON.stringify(
		EVENT_TYPES.map(({ type, description, future, schema, sample }) => ({ type, description, future, schema, sample })),
	);
	return [
		defineRoute({
			method: "GET",
			path: "/v1/event-types",
			operationId: "listEventTypes",
			tag: "Events",
			summary: "List the event types",
			description: "The catalogue: every type that can be subscribed to and published, in one response.",
			access: "any",
			success: { status: 200, description: "The catalogue.", schema: EventTypeCatalogue },
			handler: () => new RawResponse(catalogue, "application/json"),
		}),
	];
}
