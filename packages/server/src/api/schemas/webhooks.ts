import { MAX_IN_FLIGHT } from "../../registry/index.ts";
import { Backlog, closed, EventTypeName, id, list, Time } from "./common.ts";
import { Type } from "./type.ts";

const webhookFields = {
	url: Type.String({
		description:
			"Where events are sent: a public https URL without a fragment, at most 2,048 characters by default. It is shown as it will be called: `/a/../b` as `/b`, host names in ASCII.",
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
	backlog: Backlog,
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

export const UrlToCheck = Type.Object(
	{ url: Type.String({ examples: ["https://example.com/webhooks"] }) },
	{ ...closed, title: "UrlToCheck", examples: [{ url: "https://example.com/webhooks" }] },
);
export const UrlCheck = Type.Object(
	{
		ok: Type.Boolean({ description: "Whether a webhook can be registered for it and its name resolves now." }),
		checks: Type.Array(
			Type.Object({
				name: Type.Enum(["https", "reachable_name", "public_address"], { type: "string" }),
				state: Type.Enum(["ok", "failed", "unknown"], { type: "string", description: "`unknown`: not looked at." }),
				detail: Type.String({ description: "For people." }),
			}),
		),
	},
	{ title: "UrlCheck" },
);
