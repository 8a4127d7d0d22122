import { EVENT_TYPES } from "@posthorn/protocol";
import { Type } from "typebox";
import { MAX_IN_FLIGHT, NAME_LENGTH } from "../registry/index.ts";
import { EVENT_ID, MAX_BATCH } from "./event-form.ts";
import { PAGE_LIMIT } from "./pagination.ts";

/** Schemas with a title become components of the OpenAPI document under that name. */

const closed = { additionalProperties: false } as const;

export const Time = Type.String({
	format: "date-time",
	description: "ISO 8601 in UTC with milliseconds.",
	examples: ["2026-11-21T03:47:36.123Z"],
});
const TimeOrNull = Type.Union([Time, Type.Null()]);

export const EventTypeName = Type.Enum(
	EVENT_TYPES.map(({ type }) => type),
	{ type: "string", title: "EventType", description: "The name of an event type.", examples: ["purchase.completed"] },
);

const id = (prefix: string, what: string) =>
	Type.String({ description: `The ${what}'s identifier.`, examples: [`${prefix}_01kbjh6mrxe3q8z1v2t4w5y6a7`] });

const Name = Type.String({
	minLength: NAME_LENGTH.min,
	maxLength: NAME_LENGTH.max,
	description: "For people; no control characters.",
	examples: ["My store"],
});

export const NextCursor = Type.Union([Type.String(), Type.Null()], {
	description: "Pass it as `cursor` to get the next page; null when this was the last one.",
});

const list = <T extends ReturnType<typeof Type.Object>>(item: T) =>
	Type.Object({ data: Type.Array(item), next_cursor: NextCursor });

export const Limit = Type.Optional(
	Type.Integer({
		minimum: PAGE_LIMIT.min,
		maximum: PAGE_LIMIT.max,
		default: PAGE_LIMIT.default,
		description: "Rows of a page.",
	}),
);
export const Cursor = Type.Optional(
	Type.String({ maxLength: 200, description: "The `next_cursor` of the page before." }),
);
export const PageQuerySchema = Type.Object({ limit: Limit, cursor: Cursor }, closed);

// ── projects and their keys ──

const Apps = Type.Array(Type.Enum(["developer"], { type: "string" }), {
	uniqueItems: true,
	description: "Installed apps. `developer` adds webhooks, API keys and logs.",
	examples: [["developer"]],
});

export const Project = Type.Object(
	{ id: id("proj", "project"), name: Name, apps: Apps, created_at: Time },
	{ title: "Project" },
);
export const ProjectList = list(Project);
export const NewProject = Type.Object(
	{ name: Name, apps: Type.Optional(Apps) },
	{ ...closed, title: "NewProject", examples: [{ name: "My store" }] },
);

const apiKeyFields = {
	id: id("key", "key"),
	name: Name,
	prefix: Type.String({
		description: "The key's first characters, to tell keys apart by.",
		examples: ["phk_Zk3v9QxB"],
	}),
	created_at: Time,
};
export const ApiKey = Type.Object(
	{
		...apiKeyFields,
		last_used_at: Type.Union([Time, Type.Null()], { description: "When it was last used, to the minute or so." }),
	},
	{ title: "ApiKey" },
);
export const ApiKeyList = list(ApiKey);
export const CreatedApiKey = Type.Object(
	{ ...apiKeyFields, key: Type.String({ description: "The key. Shown this once and stored as a hash." }) },
	{ title: "CreatedApiKey" },
);
export const NewApiKey = Type.Object({ name: Name }, { ...closed, title: "NewApiKey", examples: [{ name: "Shop" }] });

// ── webhooks ──

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

const webhookFields = {
	url: Type.String({
		description: "Where events are sent: a public https URL, of 2,048 characters at most unless configured otherwise.",
		examples: ["https://example.com/webhooks"],
	}),
	description: Type.String({
		description: "A label for the owner, of 200 characters at most unless configured otherwise.",
		examples: ["Accounting"],
	}),
	events: Type.Array(EventTypeName, {
		minItems: 1,
		uniqueItems: true,
		description: "The event types that it receives.",
		examples: [["purchase.completed", "purchase.refunded"]],
	}),
	max_in_flight: Type.Integer({
		minimum: MAX_IN_FLIGHT.min,
		maximum: MAX_IN_FLIGHT.max,
		default: MAX_IN_FLIGHT.default,
		description: "First attempts that may be under way at once. With 1, they start in the order of the log.",
	}),
};
const Status = Type.Enum(["active", "paused"], {
	type: "string",
	description: "Paused: nothing is sent and events wait.",
});

const webhookAnswer = {
	id: id("wh", "webhook"),
	...webhookFields,
	status: Status,
	created_at: Time,
	backlog: Type.Object(
		{
			events: Type.Integer({ description: "How many events wait for their first attempt." }),
			oldest_at: Type.Union([Time, Type.Null()], { description: "When the oldest of them was published." }),
		},
		{ description: "What waits for its first attempt." },
	),
};
const Secret = Type.String({
	description: "The signing secret. Shown this once; only a hash of it is stored.",
	examples: [`whsec_${"x".repeat(64)}`],
});
export const Webhook = Type.Object(webhookAnswer, { title: "Webhook" });
export const WebhookList = list(Webhook);
export const CreatedWebhook = Type.Object({ ...webhookAnswer, secret: Secret }, { title: "CreatedWebhook" });
export const RotatedSecret = Type.Object({ secret: Secret }, { title: "RotatedSecret" });
export const NewWebhook = Type.Object(
	{
		url: webhookFields.url,
		description: Type.Optional(webhookFields.description),
		events: webhookFields.events,
		max_in_flight: Type.Optional(webhookFields.max_in_flight),
	},
	{
		...closed,
		title: "NewWebhook",
		examples: [{ url: "https://example.com/webhooks", description: "Accounting", events: ["purchase.completed"] }],
	},
);
export const WebhookPatch = Type.Object(
	{
		url: Type.Optional(webhookFields.url),
		description: Type.Optional(webhookFields.description),
		events: Type.Optional(webhookFields.events),
		max_in_flight: Type.Optional(webhookFields.max_in_flight),
		status: Type.Optional(Status),
		from: Type.Optional(
			Type.Enum(["backlog", "now"], {
				type: "string",
				description:
					'Only together with `status: "active"`. `backlog` (unless said) sends what had waited; `now` leaves it out.',
			}),
		),
	},
	{ ...closed, title: "WebhookPatch", examples: [{ status: "active", from: "now" }] },
);
export const TestRequest = Type.Object(
	{ type: EventTypeName },
	{ ...closed, title: "TestRequest", examples: [{ type: "purchase.completed" }] },
);
export const TestAccepted = Type.Object({ event_id: id("evt", "test event") }, { title: "TestAccepted" });

// ── events ──

const EventId = Type.String({
	pattern: EVENT_ID.source,
	description: "The event's identifier. Receivers de-duplicate by it.",
	examples: ["evt_01kbjh6mrxe3q8z1v2t4w5y6a7"],
});
const Data = Type.Object({}, { description: "The event's own data; the catalogue has its schema." });

export const Envelope = Type.Object(
	{ id: EventId, type: EventTypeName, created_at: Time, project_id: id("proj", "project"), data: Data },
	{ title: "Envelope", description: "What a webhook receives, byte for byte." },
);
export const EventPage = Type.Object({
	data: Type.Array(Envelope, { description: "The envelopes, each with the same bytes as it was sent with." }),
	next_cursor: NextCursor,
	last_seq: Type.Integer({
		description: "The log was read up to here. Pass it as `after` later on to get what came since.",
	}),
});
export const NewEvent = Type.Object(
	{
		type: EventTypeName,
		data: Data,
		id: Type.Optional(EventId),
		created_at: Type.Optional(
			Type.String({ format: "date-time", description: "ISO 8601 with its zone; now unless said." }),
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

// ── the delivery log ──

export const AttemptStatusName = Type.Enum(["delivered", "retrying", "failed"], {
	type: "string",
	description: "`failed` is dead-lettered: no further attempt follows by itself.",
});
export const Attempt = Type.Object(
	{
		id: id("att", "attempt"),
		webhook_id: id("wh", "webhook"),
		event_id: EventId,
		event_type: EventTypeName,
		attempt: Type.Integer({ minimum: 1, description: "Its number in its series." }),
		replay: Type.Integer({ minimum: 0, description: "0 for the first series, then 1, 2 … for each replay." }),
		method: Type.Enum(["POST"], { type: "string" }),
		url: Type.String(),
		request_headers: Type.Record(Type.String(), Type.String(), {
			description: "The headers that were sent; empty when no request was made.",
		}),
		request_body: Type.String({ description: "The exact body that was sent." }),
		status_code: Type.Union([Type.Integer(), Type.Null()]),
		error_code: Type.Union([Type.String(), Type.Null()], { description: "A stable code for `error`." }),
		error: Type.Union([Type.String(), Type.Null()], { description: "What went wrong, for people." }),
		response_ms: Type.Integer(),
		response_body: Type.String({ description: "The first 1,024 bytes; what is not UTF-8 shows as U+FFFD." }),
		response_truncated: Type.Boolean(),
		status: AttemptStatusName,
		next_retry_at: TimeOrNull,
		started_at: Time,
	},
	{ title: "Attempt" },
);
export const AttemptList = list(Attempt);
export const Delivery = Type.Object(
	{
		state: Type.Enum(["attempting", "delivered", "dead_lettered"], { type: "string" }),
		attempt: Type.Integer({ description: "The attempt that is due or under way, or the last one made." }),
		replay: Type.Integer(),
		next_retry_at: TimeOrNull,
		attempts: Type.Array(Attempt, {
			description: "Of all series, in the order in which they were made; the newest 200, and 4 MiB, at most.",
		}),
	},
	{ title: "Delivery" },
);
export const ReplayAccepted = Type.Object(
	{ state: Type.Enum(["attempting"], { type: "string" }), attempt: Type.Integer(), replay: Type.Integer() },
	{ title: "ReplayAccepted" },
);
export const ReplayRequest = Type.Object(
	{
		status: Type.Enum(["failed"], { type: "string" }),
		since: Type.Optional(Type.String({ format: "date-time", description: "Attempts that began from then on." })),
		until: Type.Optional(Type.String({ format: "date-time", description: "Attempts that began before then." })),
	},
	{ ...closed, title: "ReplayRequest", examples: [{ status: "failed" }] },
);
export const ReplayedCount = Type.Object({ count: Type.Integer() }, { title: "ReplayedCount" });

// ── errors and the system ──

export const ProblemSchema = Type.Object(
	{
		type: Type.String({ description: "A stable code, as a relative URI." }),
		title: Type.String(),
		status: Type.Integer(),
		detail: Type.String({ description: "What happened and what to do." }),
		errors: Type.Optional(
			Type.Array(
				Type.Object({
					pointer: Type.String({
						description:
							"Where: a JSON Pointer into the body (empty for the whole of it), or `?name` for a query parameter.",
					}),
					detail: Type.String(),
				}),
			),
		),
	},
	{ title: "Problem", description: "RFC 9457." },
);
export const Health = Type.Object({ status: Type.Enum(["ok"], { type: "string" }) }, { title: "Health" });
