/** What bulk replays, retries and dismissals share: of named deliveries, or of those that match a filter. */
import type { Static } from "typebox";
import type { AuditNote } from "../../../accounts/index.ts";
import { isId } from "../../../base/ids.ts";
import type { DeliveryKey } from "../../../storage/port.ts";
import { notFound } from "../../http/problem.ts";
import type { ApiParts, Call } from "../../route.ts";
import { component, orNull, soughtId, strictObject, Type } from "../../schema.ts";
import { noteOf } from "../webhooks/webhooks.ts";
import { auditedDeliveries, auditedFilter, type GivenFilter } from "./log-filters.ts";

/** Deliveries that a body may name. */
export const MAX_NAMED = 200;

export const namedDeliveries = (description: string) =>
	Type.Array(strictObject({ webhook_id: soughtId("The webhook."), event_id: soughtId("The event.") }), {
		minItems: 1,
		maxItems: MAX_NAMED,
		description,
	});
export const EXAMPLE_DELIVERY = {
	webhook_id: "wh_01kbjh6mrxe3q8z1v2t4w5y6a7",
	event_id: "evt_01kbjh6mrxe3q8z1v2t4w5y6a7",
};

/** Of a body's schema: it has either named deliveries or a filter. */
export const NAMED_OR_FILTERED = {
	oneOf: [{ required: ["deliveries"] }, { required: ["filter"] }],
	errorMessage: 'must have either "deliveries" or "filter"',
};
/** Where such a body has the types that it filters by. */
export const TYPES_POINTER = "/filter/type";

export const NextStep = Type.Optional(
	orNull(
		Type.String(),
		"With `filter`: call again with it as `cursor`, even after a `count` of 0; null after the last step.",
	),
);
export const ReplayedCount = component("ReplayedCount")({ count: Type.Integer() });

type NamedDeliveries = Static<ReturnType<typeof namedDeliveries>>;

/** With the names that storage gives the ids. */
export const keysOf = (deliveries: NamedDeliveries): DeliveryKey[] =>
	deliveries.map(({ webhook_id, event_id }) => ({ webhookId: webhook_id, eventId: event_id }));

/** @throws Problem 404 if a `webhook_id` isn't a webhook's id */
export function knownKeys(deliveries: NamedDeliveries): DeliveryKey[] {
	if (deliveries.some(({ webhook_id }) => !isId("webhook", webhook_id))) throw notFound("webhook");
	return keysOf(deliveries);
}

/**
 * The caller's rights during a bulk action, which is done in pieces. Storage checks `by` again with each piece, and does
 * nothing once the right has ended. `authorizeAgain` is called before each piece, and after one that did nothing.
 */
export type Rights = Pick<Call<unknown, unknown>, "by" | "authorizeAgain">;

/**
 * How the audit log names deliveries that are given or selected by a filter: by their webhook, if it is a single one,
 * and by the filter or the first of them. Call before the action, because it reads.
 */
export async function auditNaming(
	storage: ApiParts["storage"],
	projectId: string,
	action: AuditNote["action"],
	given: { readonly deliveries: readonly DeliveryKey[] } | { readonly filter: GivenFilter },
): Promise<(done: readonly DeliveryKey[], count?: number) => AuditNote> {
	const ids = "filter" in given ? [given.filter.webhook_id ?? []].flat() : given.deliveries.map((key) => key.webhookId);
	const [first, ...others] = new Set(ids);
	const isOne = first !== undefined && others.length === 0;
	const webhook = isOne ? await storage.getWebhook({ projectId, webhookId: first }) : null;
	return (done, count = done.length) => {
		const which = "filter" in given ? { filter: auditedFilter(given.filter) } : { deliveries: auditedDeliveries(done) };
		const detail = { ...which, count };
		return webhook === null ? { projectId, action, detail } : noteOf(action, webhook, detail);
	};
}
