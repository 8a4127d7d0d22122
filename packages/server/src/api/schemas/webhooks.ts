import { EVENT_TYPES } from "@posthorn/protocol";
import type { Static } from "typebox";
import { MAX_IN_FLIGHT, type WebhookView } from "../../registry/webhooks.ts";
import { formatTime, formatTimeOrNull } from "../http/time.ts";
import { Backlog, closed, EventTypeName, id, list, Time, text } from "./common.ts";
import { Type } from "./type.ts";

const webhookFields = {
	url: Type.String({
		format: "uri",
		pattern: "^[hH][tT][tT][pP][sS]:[^\\s#\\x00-\\x1f\\x7f-\\x9f]+$",
		description:
			"Where events are sent: an https URL with a public host, without credentials and without a fragment, at most 2,048 characters by default. Responses show the URL as it is called: `/a/../b` as `/b`, host names in ASCII.",
		// The rules of webhooks say precisely what is wrong with a URL.
		errorMessage: null,
		examples: ["https://example.com/webhooks"],
	}),
	description: Type.String({
		...text,
		description: "A label for the owner, at most 200 characters by default.",
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
		description: "How many first attempts may be in flight. With 1, they start in log order.",
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
	backlog: Backlog,
};
const Secret = Type.String({
	description: "The signing secret, shown only in this response, and stored sealed.",
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
					'Only with `status: "active"`. `backlog` (the default) sends the events that accumulated; `now` skips them.',
			}),
		),
	},
	{
		...closed,
		title: "WebhookPatch",
		examples: [{ status: "active", from: "now" }],
		dependentSchemas: { from: { properties: { status: { const: "active" } }, required: ["status"] } },
	},
);
export const TestRequest = Type.Object(
	{ type: EventTypeName },
	{ ...closed, title: "TestRequest", examples: [{ type: "purchase.completed" }] },
);
export const TestAccepted = Type.Object({ event_id: id("evt", "test event") }, { title: "TestAccepted" });

export const UrlToCheck = Type.Object(
	{ url: Type.String({ examples: ["https://example.com/webhooks"] }) },
	{ ...closed, title: "UrlToCheck", examples: [{ url: "https://example.com/webhooks" }] },
);
export const UrlCheck = Type.Object(
	{
		ok: Type.Boolean({
			description: "Whether a webhook can be registered for this URL and its host name currently resolves.",
		}),
		checks: Type.Array(
			Type.Object({
				name: Type.Enum(["https", "reachable_name", "public_address"], { type: "string" }),
				state: Type.Enum(["ok", "failed", "unknown"], { type: "string", description: "`unknown`: not checked." }),
				detail: Type.String({ description: "The result in words." }),
			}),
		),
	},
	{ title: "UrlCheck" },
);

export function presentWebhook({ webhook, backlog }: WebhookView): Static<typeof Webhook> {
	const { id, url, description, events, status, maxInFlight, createdAt } = webhook;
	return {
		id,
		url,
		description,
		// Always in the order of the catalogue.
		events: EVENT_TYPES.map(({ type }) => type).filter((type) => events.includes(type)),
		status,
		max_in_flight: maxInFlight,
		created_at: formatTime(createdAt),
		backlog: { events: backlog.events, oldest_at: formatTimeOrNull(backlog.oldestAt) },
	};
}
