import { type EventType, isoTimeOrNull } from "@posthorn/protocol";
import type { Static } from "typebox";
import { LOG_READS } from "../../../base/budgets.ts";
import { grouped } from "../../../base/text.ts";
import {
	DELIVERY_STATES,
	type DeliveryFilter,
	type FoundDelivery,
	isDeliveryPosition,
	listDeliveries,
} from "../../../search/deliveries.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import {
	Cursor,
	decodeCursor,
	EventTypeName,
	id,
	Limit,
	listWith,
	PAGE_LIMIT,
	TimeOrNull,
	Type,
} from "../../schema.ts";
import { EventId } from "../publishing/events.ts";
import { AttemptSummary, OrderId, presentAttemptSummary, searchedOf } from "./attempts.ts";
import { cursorOf, logFilter, logFilters, type ResolvedFilter, SEVERAL } from "./log-filters.ts";

const route = routeIn("Delivery log");

const DeliveryStateName = Type.Enum([...DELIVERY_STATES], {
	type: "string",
	description: "`waiting`: the next attempt is pending. `failed`: there are no attempts left, or nothing was sent.",
});
const DeliverySummary = Type.Object(
	{
		webhook_id: id("wh", "webhook"),
		event_id: EventId,
		event_type: EventTypeName,
		order_id: OrderId,
		replay: Type.Integer({ minimum: 0, description: "0 for the first series, then 1, 2 … for each replay." }),
		test: Type.Boolean({ description: "Whether the event is a test event." }),
		state: DeliveryStateName,
		attempts: Type.Integer({ minimum: 0, description: "How many attempts of this series were made." }),
		last_attempt: Type.Union([AttemptSummary, Type.Null()], {
			description: "Null before the first attempt of a replay or test event.",
		}),
		next_retry_at: TimeOrNull,
		handled: Type.Union([Type.Enum(["replayed", "dismissed"], { type: "string" }), Type.Null()], {
			description: "What was done about a failed delivery; null if nothing.",
		}),
	},
	{ title: "DeliverySummary", description: "A series of attempts of one event to one webhook." },
);
const filters = {
	...logFilters("Deliveries"),
	state: Type.Optional(Type.Array(DeliveryStateName, { minItems: 1, maxItems: 3, description: SEVERAL })),
	unhandled: Type.Optional(
		Type.Enum(["true"], {
			type: "string",
			description:
				"`true` leaves out failed deliveries that were replayed or dismissed, and those of test events and of deleted webhooks. With `state=failed`, the others are those that `dead_letters` counts.",
		}),
	),
	test: Type.Optional(
		Type.Enum(["true", "false"], {
			type: "string",
			description: "`false` leaves out test events, as statistics do; `true` leaves out all others.",
		}),
	),
};

export const DeliveryFilterQuery = Type.Object(filters, { additionalProperties: false });

const DeliveryQuery = Type.Object({ ...filters, limit: Limit, cursor: Cursor }, { additionalProperties: false });

/** @throws Problem 422 if the filter has too many combinations */
export async function deliveryFilterOf(
	references: ApiParts["references"],
	projectId: string,
	query: Static<typeof DeliveryFilterQuery>,
): Promise<ResolvedFilter<DeliveryFilter>> {
	const states = [...new Set(query.state ?? DELIVERY_STATES)];
	const statuses = states.length === DELIVERY_STATES.length ? 1 : states.length;
	const { filter, searched } = await logFilter(references, projectId, query, statuses);
	const tests = query.test === undefined ? null : query.test === "true";
	return { filter: { ...filter, states, tests, unhandled: query.unhandled === "true" }, searched };
}

/** The delivery log by deliveries. */
export function deliveryListRoutes({ storage, references }: Pick<ApiParts, "storage" | "references">): Route[] {
	return [
		route("GET", "/v1/projects/{project_id}/deliveries", "listDeliveries", {
			summary: "List deliveries",
			description: `Newest first, by the last attempt; filters by response and time apply to it. Filters combine; values of one filter are alternatives. Webhooks × types × states can be at most ${LOG_READS.combinations}. Events that wait for their first attempt aren't listed: they are the webhook's backlog. A page examines about ${grouped(LOG_READS.attemptsScanned)} attempts at most, so it may be short or empty even if more follow. Continue until \`next_cursor\` is null.`,
			access: "developer",
			query: DeliveryQuery,
			heavy: true,
			rate: "reads",
			success: { status: 200, description: "A page of deliveries.", schema: listWith(DeliverySummary, searchedOf) },
			async handler({ params: { projectId }, query, request, reply }) {
				const { limit = PAGE_LIMIT.default, cursor } = query;
				const { filter, searched } = await deliveryFilterOf(references, projectId, query);
				const isGone = () => reply.raw.destroyed || request.raw.socket.destroyed;
				const { rows, next } = await listDeliveries(storage, projectId, filter, {
					limit,
					before: cursor === undefined ? undefined : decodeCursor(cursor, isDeliveryPosition),
					isGone,
				});
				return { data: rows.map(presentDelivery), next_cursor: cursorOf(next), ...searched };
			},
		}),
	];
}

export function presentDelivery(delivery: FoundDelivery): Static<typeof DeliverySummary> {
	return {
		webhook_id: delivery.webhookId,
		event_id: delivery.eventId,
		event_type: delivery.eventType as EventType,
		order_id: delivery.orderId,
		replay: delivery.replay,
		test: delivery.seq < 0,
		state: delivery.state,
		attempts: delivery.attempts,
		last_attempt: delivery.last && presentAttemptSummary(delivery.last),
		next_retry_at: isoTimeOrNull(delivery.nextAt),
		handled: delivery.handled,
	};
}
