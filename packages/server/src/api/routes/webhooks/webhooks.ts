import { EVENT_TYPES, isoTime, isoTimeOrNull } from "@posthorn/protocol";
import type { Static } from "typebox";
import type { AuditNote } from "../../../accounts/index.ts";
import { isId } from "../../../base/ids.ts";
import { MAX_IN_FLIGHT, type WebhookView } from "../../../registry/webhooks.ts";
import type { ChangedWebhook, Webhook as StoredWebhook } from "../../../storage/port.ts";
import { found, invalid, notFound, Problem } from "../../http/problem.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import {
	component,
	EventTypeName,
	id,
	list,
	nameText,
	optional,
	orNull,
	PageQuerySchema,
	pageById,
	request,
	Time,
	Type,
} from "../../schema.ts";

const route = routeIn("Webhooks", "developer");

export const Backlog = Type.Object(
	{
		events: Type.Integer({ description: "How many events wait for their first attempt." }),
		oldest_seq: orNull(Type.Integer({ minimum: 1 }), "The number of the oldest of them in the project's log."),
		oldest_at: orNull(Time, "When the oldest of them was published."),
	},
	{ description: "The events that wait for their first attempt." },
);

/** The webhook's id in a query, if any. @throws Problem 404 if it isn't the id of any webhook */
export function soughtWebhookId(given: string | undefined): string | undefined {
	if (given !== undefined && !isId("webhook", given)) throw notFound("webhook");
	return given;
}

export const presentBacklog = ({ events, oldestSeq, oldestAt }: WebhookView["backlog"]): Static<typeof Backlog> => ({
	events,
	oldest_seq: oldestSeq,
	oldest_at: isoTimeOrNull(oldestAt),
});

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
		...nameText,
		description:
			"A label for the owner, at most 200 characters by default, with a visible character unless it is empty. It is stored without the white space around it.",
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
	standard_webhooks: Type.Boolean({
		default: false,
		description:
			"Whether requests also carry the headers of the Standard Webhooks specification: `webhook-id`, `webhook-timestamp` and `webhook-signature`. Its libraries take the same secret.",
	}),
};
const Status = Type.Enum(["active", "paused"], { description: "Paused: nothing is sent and events wait." });

const shownFields = {
	id: id("webhook"),
	...webhookFields,
	// A stored one may be older than its rules.
	description: Type.String({ description: "The owner's label.", examples: ["Accounting"] }),
	status: Status,
	secret_state: Type.Enum(["usable", "unreadable", "lost"], {
		description:
			"Whether requests can be signed. `unreadable`: no seal key of the service opens the secret. `lost`: the operator gave it up, because its seal key was lost. In both cases, nothing is sent, and events wait until the secret is rotated.",
	}),
	created_at: Time,
	backlog: Backlog,
};
const Secret = Type.String({
	description: "The signing secret, shown only in this response, and stored sealed.",
	examples: [`whsec_${"x".repeat(88)}`],
});
const Webhook = component("Webhook")(shownFields);
const DeletedWebhook = component("DeletedWebhook")({
	id: id("webhook"),
	url: Type.String(),
	description: Type.String(),
	deleted_at: Time,
});
const NewWebhook = request("NewWebhook", {
	examples: [{ url: "https://example.com/webhooks", description: "Accounting", events: ["purchase.completed"] }],
})({
	...optional(webhookFields),
	url: webhookFields.url,
	events: webhookFields.events,
});
const WebhookPatch = request("WebhookPatch", {
	examples: [{ status: "active", from: "now" }],
	dependentSchemas: {
		from: {
			anyOf: [
				{ properties: { status: { const: "active" } }, required: ["status"] },
				{ properties: { from: { const: "now" } }, not: { required: ["status"] } },
			],
		},
	},
})({
	...optional({
		...webhookFields,
		status: Status,
		from: Type.Enum(["backlog", "now"], {
			description:
				'With `status: "active"`, `backlog` (the default) sends the events that accumulated, and `now` skips them. Without `status`, `now` skips what is pending and leaves the webhook active or paused.',
		}),
	}),
});
const TestRequest = request("TestRequest", { examples: [{ type: "purchase.completed" }] })({
	type: EventTypeName,
});
const UrlToCheck = request("UrlToCheck", { examples: [{ url: "https://example.com/webhooks" }] })({
	url: Type.String({ examples: ["https://example.com/webhooks"] }),
});
const UrlCheck = component("UrlCheck")({
	ok: Type.Boolean({
		description: "Whether a webhook can be registered for this URL and its host name currently resolves.",
	}),
	checks: Type.Array(
		Type.Object({
			name: Type.Enum(["https", "reachable_name", "public_address"]),
			state: Type.Enum(["ok", "failed", "unknown"], { description: "`unknown`: not checked." }),
			detail: Type.String({ description: "The result in words." }),
		}),
	),
});

function presentWebhook({ webhook, backlog, secretState }: WebhookView): Static<typeof Webhook> {
	const { id, url, description, events, status, maxInFlight, standardWebhooks, createdAt } = webhook;
	return {
		id,
		url,
		description,
		// Always in the order of the catalogue.
		events: EVENT_TYPES.map(({ type }) => type).filter((type) => events.includes(type)),
		status,
		max_in_flight: maxInFlight,
		standard_webhooks: standardWebhooks,
		secret_state: secretState,
		created_at: isoTime(createdAt),
		backlog: presentBacklog(backlog),
	};
}

const OLD_SECRET =
	"This webhook's secret was created before Standard Webhooks were supported. Rotate the secret, then turn standard_webhooks on.";

export const NO_SECRET =
	"The service can't read this webhook's secret, so nothing can be signed with it. Rotate the secret, and give the new one to the receiver.";

export function webhookRoutes({ webhooks, storage, urlCheck, engine, quarantine }: ApiParts): Route[] {
	const path = "/v1/projects/{project_id}/webhooks";
	const one = `${path}/{webhook_id}`;
	return [
		route("POST", path, "createWebhook", {
			summary: "Register a webhook",
			description: "It receives events of its types from now on. Only this response shows the signing secret.",
			body: NewWebhook,
			faults: (body) => webhooks.faults(body),
			success: {
				status: 201,
				description: "The webhook with its secret.",
				schema: component("CreatedWebhook")({ ...shownFields, secret: Secret }),
			},
			problems: { conflict: "The project has reached its maximum number of webhooks." },
			async handler({ params, body, by, audit, gone }) {
				const result = await webhooks.create(params.projectId, body, by);
				if (result.kind === "no_project") return gone("project");
				if (result.kind === "limit") {
					const why = `The project has ${result.max} webhooks, which is the maximum. Delete one first.`;
					throw new Problem("conflict", why);
				}
				audit(noteOf("webhook.created", result.view.webhook));
				return { ...presentWebhook(result.view), secret: result.secret };
			},
		}),
		route("GET", path, "listWebhooks", {
			summary: "List webhooks",
			description: "Oldest first.",
			query: PageQuerySchema,
			heavy: true,
			success: { status: 200, description: "A page of webhooks.", schema: list(Webhook) },
			handler: ({ params, query }) =>
				pageById("webhook", query, (page) => webhooks.list(params.projectId, page), presentWebhook),
		}),
		route("GET", `${path}/deleted`, "listDeletedWebhooks", {
			summary: "List deleted webhooks",
			description: "Oldest first. They name the deliveries in the log, and are listed until their retention ends.",
			query: PageQuerySchema,
			rate: "reads",
			success: { status: 200, description: "A page of deleted webhooks.", schema: list(DeletedWebhook) },
			handler: ({ params, query }) =>
				pageById(
					"webhook",
					query,
					(page) => storage.listDeletedWebhooks({ projectId: params.projectId, ...page }),
					({ id, url, description, deletedAt }) => ({ id, url, description, deleted_at: isoTime(deletedAt) }),
				),
		}),
		route("POST", `${path}/check-url`, "checkUrl", {
			summary: "Check a URL before it is registered",
			description:
				"Checks the rules for webhooks, and whether the host name resolves to a public address. Nothing is sent to it.",
			body: UrlToCheck,
			rate: "urlChecks",
			success: { status: 200, description: "The results of the checks.", schema: UrlCheck },
			handler: ({ body }) => urlCheck.check(body.url),
		}),
		route("GET", one, "getWebhook", {
			summary: "Get a webhook",
			success: { status: 200, description: "The webhook.", schema: Webhook },
			async handler({ params: { projectId, webhookId } }) {
				return presentWebhook(found("webhook", await webhooks.get(projectId, webhookId)));
			},
		}),
		route("PATCH", one, "updateWebhook", {
			summary: "Change, pause or resume a webhook",
			description:
				"Changes the given fields. An added type starts with the next event. Once this returns, nothing is sent with the old settings.",
			body: WebhookPatch,
			faults: (body) => webhooks.faults(body),
			success: { status: 200, description: "The webhook as changed.", schema: Webhook },
			problems: { conflict: "Its secret is too old for `standard_webhooks`." },
			async handler({ params: { projectId, webhookId }, body, by, audit, gone }) {
				const result = await webhooks.update(projectId, webhookId, body, by);
				if (result.kind === "no_webhook") return gone("webhook");
				if (result.kind === "old_secret") throw new Problem("conflict", OLD_SECRET);
				for (const note of changeNotes(result, body)) audit(note);
				return presentWebhook(await webhooks.view(result.after));
			},
		}),
		route("DELETE", one, "deleteWebhook", {
			summary: "Delete a webhook",
			description:
				"Pending deliveries are closed and logged with the reason `deleted`. Log entries stay until their retention ends.",
			success: { status: 204, description: "The webhook was deleted." },
			async handler({ params: { projectId, webhookId }, by, audit, gone }) {
				const webhook = found("webhook", await storage.getWebhook({ projectId, webhookId }));
				if (!(await webhooks.delete(projectId, webhookId, by))) return gone("webhook");
				audit(noteOf("webhook.deleted", webhook));
			},
		}),
		route("POST", `${one}/rotate-secret`, "rotateWebhookSecret", {
			summary: "Rotate the signing secret",
			description: "The old secret signs nothing from then on. Only this response shows the new one.",
			success: { status: 200, description: "The new secret.", schema: component("RotatedSecret")({ secret: Secret }) },
			async handler({ params: { projectId, webhookId }, by, audit, gone }) {
				const webhook = found("webhook", await storage.getWebhook({ projectId, webhookId }));
				const secret = await webhooks.rotateSecret(projectId, webhookId, by);
				if (secret === null) return gone("webhook");
				audit(noteOf("webhook.secret_rotated", webhook));
				return { secret };
			},
		}),
		route("POST", `${one}/test`, "testWebhook", {
			summary: "Send a test event",
			description:
				"Sends a type's sample to this webhook only. The webhook must be subscribed to the type. Test events are in the delivery log, not in the event log.",
			body: TestRequest,
			rate: "testEvents",
			success: {
				status: 202,
				description: "The test event is being sent.",
				schema: component("TestAccepted")({ event_id: id("event", "test event") }),
			},
			problems: { conflict: "The webhook is paused, its secret can't be read, or the database is in quarantine." },
			async handler({ params: { projectId, webhookId }, body, by, audit, gone }) {
				const webhook = found("webhook", await storage.getWebhook({ projectId, webhookId }));
				if (webhook.status === "paused")
					throw new Problem("conflict", "The webhook is paused, so nothing is sent to it. Resume it first.");
				if (webhooks.secretState(webhook) !== "usable") throw new Problem("conflict", NO_SECRET);
				if (quarantine.mark)
					throw new Problem(
						"conflict",
						"The service was restored from a backup, and sends nothing until its operator releases it.",
					);
				const result = await engine.sendTest(projectId, webhookId, body.type, by);
				if (result.kind === "no_webhook") return gone("webhook");
				if (result.kind === "not_subscribed")
					throw invalid([{ pointer: "/type", detail: "must be a type that the webhook is subscribed to" }]);
				audit(noteOf("webhook.tested", webhook, { type: body.type }));
				return { event_id: result.eventId };
			},
		}),
	];
}

/** What the audit log says about an action on a webhook. */
export function noteOf(action: AuditNote["action"], webhook: StoredWebhook, detail?: AuditNote["detail"]): AuditNote {
	const { id, projectId, description, url } = webhook;
	return { projectId, action, target: { kind: "webhook", id, name: description || url }, ...(detail && { detail }) };
}

/** Pausing and resuming are recorded separately from changes of settings. */
function changeNotes(
	{ before, after }: ChangedWebhook,
	{ status, from, ...rest }: Static<typeof WebhookPatch>,
): AuditNote[] {
	const notes: AuditNote[] = [];
	const fields = Object.keys(rest);
	const values = ({ url, description, events, maxInFlight, standardWebhooks }: StoredWebhook) => {
		const all = { url, description, events, max_in_flight: maxInFlight, standard_webhooks: standardWebhooks };
		return Object.fromEntries(Object.entries(all).filter(([name]) => name in rest));
	};
	if (fields.length > 0)
		notes.push(noteOf("webhook.changed", after, { fields, from: values(before), to: values(after) }));
	if (status === "paused") notes.push(noteOf("webhook.paused", after));
	if (status === "active") notes.push(noteOf("webhook.resumed", after, { from: from ?? "backlog" }));
	if (status === undefined && from === "now") notes.push(noteOf("webhook.skipped", after));
	return notes;
}
