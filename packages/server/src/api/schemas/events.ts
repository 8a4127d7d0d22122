import { EVENT_TYPES } from "@posthorn/protocol";
import { EVENT_ID, MAX_BATCH } from "../routes/new-events.ts";
import { closed, EventTypeName, givenTime, id, NextCursor, Time } from "./common.ts";
import { Type } from "./type.ts";

export const EventTypeEntry = Type.Object(
	{
		type: EventTypeName,
		description: Type.String(),
		future: Type.Boolean({ description: "Announced, but not yet published by every store platform." }),
		schema: Type.Object({}, { description: "JSON Schema (2020-12) of the event's data." }),
		sample: Type.Object({}, { description: "Sample data." }),
	},
	{ title: "EventTypeEntry" },
);
export const EventTypeCatalogue = Type.Array(EventTypeEntry);

export const EventId = Type.String({
	pattern: EVENT_ID.source,
	description: "The event's identifier. Receivers deduplicate by it.",
	examples: ["evt_01kbjh6mrxe3q8z1v2t4w5y6a7"],
});
const Data = Type.Object(
	{},
	{
		description:
			"The event's own data, delivered character for character. The catalogue has its schema. Types whose schema is enforced are refused if an integer has a fraction, an exponent or an absolute value above 2^53 - 1, if a field that the schema names appears twice, or if `currency` isn't in ISO 4217.",
	},
);

export const Envelope = Type.Object(
	{ id: EventId, type: EventTypeName, created_at: Time, project_id: id("proj", "project"), data: Data },
	{ title: "Envelope", description: "The body that a webhook receives, byte for byte." },
);
/** The form of an epoch's name. */
export const EPOCH = "^[0-9]{1,15}\\.[0-9a-f]{8}$";

export const EventPage = Type.Object({
	data: Type.Array(Envelope, { description: "The envelopes, each with exactly the bytes that webhooks receive." }),
	next_cursor: NextCursor,
	last_seq: Type.Integer({
		description: "The last `seq` that was read. Pass it as `after` later to get the events since.",
	}),
	epoch: Type.String({
		pattern: EPOCH,
		description: "Identifies the history of the log. Store it with `last_seq`, and pass both.",
		examples: ["1.9f86d081"],
	}),
});
export const NewEvent = Type.Object(
	{
		type: EventTypeName,
		data: Data,
		id: Type.Optional(EventId),
		created_at: Type.Optional(
			givenTime("When the event happened; the time of the call by default. At most 5 minutes in the future."),
		),
	},
	{
		...closed,
		title: "NewEvent",
		examples: [{ type: "delivery.success", data: { order_id: "ord_10482" } }],
		allOf: EVENT_TYPES.filter(({ strict }) => strict).map(({ type, schema }) => ({
			if: { properties: { type: { const: type } } },
			// biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
			then: { properties: { data: schema } },
		})),
	},
);
export const NewEvents = Type.Union([
	NewEvent,
	Type.Object(
		{ events: Type.Array(NewEvent, { minItems: 1, maxItems: MAX_BATCH }) },
		{ ...closed, title: "NewEventBatch" },
	),
]);
export const PublishedEvent = Type.Object(
	{
		id: EventId,
		seq: Type.Integer({ description: "Its sequence number in the project's log." }),
		type: EventTypeName,
		created_at: Time,
		project_id: id("proj", "project"),
	},
	{ title: "PublishedEvent" },
);
export const PublishedEvents = Type.Union([
	PublishedEvent,
	Type.Object({ events: Type.Array(PublishedEvent) }, { title: "PublishedEventBatch" }),
]);
