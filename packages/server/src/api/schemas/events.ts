import { EVENT_ID, MAX_BATCH } from "../event-form.ts";
import { closed, EventTypeName, id, NextCursor, Time } from "./common.ts";
import { Type } from "./type.ts";

export const EventTypeEntry = Type.Object(
	{
		type: EventTypeName,
		description: Type.String(),
		future: Type.Boolean({ description: "Announced, and not yet made by every store platform." }),
		schema: Type.Object({}, { description: "JSON Schema (2020-12) of the event's data." }),
		sample: Type.Object({}, { description: "Data as it may look." }),
	},
	{ title: "EventTypeEntry" },
);
export const EventTypeCatalogue = Type.Array(EventTypeEntry);

export const EventId = Type.String({
	pattern: EVENT_ID.source,
	description: "The event's identifier. Receivers de-duplicate by it.",
	examples: ["evt_01kbjh6mrxe3q8z1v2t4w5y6a7"],
});
const Data = Type.Object(
	{},
	{
		description:
			"The event's own data, delivered character for character; the catalogue has its schema. Where that is enforced, integers are written without a fraction or an exponent and are at most 2^53 - 1 in size, the fields that it names are given once, and `currency` is in ISO 4217.",
	},
);

export const Envelope = Type.Object(
	{ id: EventId, type: EventTypeName, created_at: Time, project_id: id("proj", "project"), data: Data },
	{ title: "Envelope", description: "What a webhook receives, byte for byte." },
);
/** Of an epoch's name. */
export const EPOCH = "^[0-9]{1,15}\\.[0-9a-f]{8}$";

export const EventPage = Type.Object({
	data: Type.Array(Envelope, { description: "The envelopes, each with the same bytes as it was sent with." }),
	next_cursor: NextCursor,
	last_seq: Type.Integer({
		description: "The log was read up to here. Pass it as `after` later on to get what came since.",
	}),
	epoch: Type.String({
		pattern: EPOCH,
		description: "Names the history that the log is in. Keep it with `last_seq`, and pass both.",
		examples: ["1.9f86d081"],
	}),
});
export const NewEvent = Type.Object(
	{
		type: EventTypeName,
		data: Data,
		id: Type.Optional(EventId),
		created_at: Type.Optional(
			Type.String({
				format: "date-time",
				description: "ISO 8601 with its zone, not in the future; the time of the call by default.",
			}),
		),
	},
	{ ...closed, title: "NewEvent", examples: [{ type: "delivery.success", data: { order_id: "ord_10482" } }] },
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
		seq: Type.Integer({ description: "Its place in the project's log." }),
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
