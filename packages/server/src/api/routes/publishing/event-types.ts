import { basketAbandonedAfter, EVENT_TYPES, type EventTypeEntry as EventTypeRow } from "@posthorn/protocol";
import type { TSchema } from "typebox";
import { durationWords } from "../../../base/text.ts";
import { Problem } from "../../http/problem.ts";
import { type ApiParts, RawResponse, type Route, routeIn } from "../../route.ts";
import { component, EventTypeName, request, Type } from "../../schema.ts";

const route = routeIn("Events", "any");

const EventTypeEntry = component("EventTypeEntry")({
	type: EventTypeName,
	description: Type.String(),
	future: Type.Boolean({ description: "Announced, but not yet published by every store platform." }),
	schema: Type.Object({}, { description: "JSON Schema (2020-12) of the event's data." }),
	sample: Type.Object({}, { description: "Sample data." }),
});

/** `purchase.completed` → `PurchaseCompleted`. */
const titleOf = (type: string) => type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The schema of a type's `data`, a component of its own. Fields beyond those it names are always allowed. */
export const dataSchema = ({ type, description, schema }: EventTypeRow) =>
	Type.Unknown({
		...schema,
		title: `${titleOf(type)}Data`,
		description: `The data of \`${type}\`. ${description}`,
		additionalProperties: true,
	});

/** A request with an event of any type: `data` has a schema for each. The components are named after `prefix` and type. */
export function oneOfTypes(prefix: string, fields: Readonly<Record<string, TSchema>>, example: object = {}) {
	const nameOf = (type: string) => `${prefix}${titleOf(type)}`;
	return {
		oneOf: EVENT_TYPES.map((entry) =>
			request(nameOf(entry.type), { examples: [{ type: entry.type, data: entry.sample, ...example }] })({
				type: Type.Unknown({ type: "string", const: entry.type }),
				data: dataSchema(entry),
				...fields,
			}),
		),
		discriminator: {
			propertyName: "type",
			mapping: Object.fromEntries(EVENT_TYPES.map(({ type }) => [type, `#/components/schemas/${nameOf(type)}`])),
		},
	};
}

/** The media type that JSON Schema 2020-12 names. */
const SCHEMA_TYPE = "application/schema+json";
const DIALECT = "https://json-schema.org/draft/2020-12/schema";
/** Pages of any origin may read it, and proxies may keep it for an hour. */
const SHAREABLE = { "Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=3600" };

export function eventTypeRoutes({ config }: Pick<ApiParts, "config">): Route[] {
	const entries = EVENT_TYPES.map(({ type, description, future, schema, sample }) => ({
		type,
		description: type === "basket.abandoned" ? basketAbandonedAfter(durationWords(config.basketIdleMs)) : description,
		future,
		schema,
		sample,
	}));
	const catalogue = JSON.stringify(entries);
	const schemas = new Map<string, string>(
		entries.map(({ type, description, schema }) => [
			type,
			JSON.stringify({ $schema: DIALECT, title: type, description, ...schema }),
		]),
	);
	return [
		route("GET", "/v1/event-types", "listEventTypes", {
			summary: "List the event types",
			description: "The catalogue: every type that can be subscribed to and published, in one response.",
			success: { status: 200, description: "The catalogue.", schema: Type.Array(EventTypeEntry) },
			handler: () => new RawResponse(catalogue, "application/json"),
		}),
		route("GET", "/v1/event-types/{event_type}/schema.json", "getEventTypeSchema", {
			summary: "The JSON Schema of an event type's data",
			description: "Needs no key, so that editors, validators and generators can refer to it by its URL.",
			access: "open",
			success: {
				status: 200,
				description: "A JSON Schema (2020-12).",
				schema: Type.Object({}, { additionalProperties: true }),
				contentType: SCHEMA_TYPE,
			},
			handler({ params: { eventType } }) {
				const schema = schemas.get(eventType);
				if (schema === undefined)
					throw new Problem(
						"not-found",
						`There is no such event type. Known types: ${[...schemas.keys()].join(", ")}.`,
					);
				return new RawResponse(schema, SCHEMA_TYPE, SHAREABLE);
			},
		}),
	];
}
