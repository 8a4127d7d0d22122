import type { EventType } from "@posthorn/protocol";
import type { Static } from "typebox";
import { LOG_READS } from "../../base/budgets.ts";
import { isId } from "../../base/ids.ts";
import {
	countCombinations,
	DELIVERY_STATES,
	type DeliveryFilter,
	type FoundDelivery,
	listDeliveries,
} from "../delivery-search.ts";
import { invalid } from "../http/problem.ts";
import { formatTimeOrNull, timeRange } from "../http/validate.ts";
import { type ApiParts, type Route, routeIn } from "../route.ts";
import {
	Cursor,
	decodeCursor,
	EventTypeName,
	encodeCursor,
	givenTime,
	id,
	Limit,
	list,
	PAGE_LIMIT,
	soughtId,
	TimeOrNull,
	Type,
} from "../schema.ts";
import { AttemptSummary, codeRange, presentAttemptSummary, statusCodes } from "./attempts.ts";
import { EventId } from "./events.ts";

const route = routeIn("Delivery log");

const MAX_WEBHOOKS = 10;
const SEVERAL = "Repeat the parameter or separate values with commas.";

const DeliveryStateName = Type.Enum([...DELIVERY_STATES], {
	type: "string",
	description: "`waiting`: the next attempt is pending. `failed`: there are no attempts left, or nothing was sent.",
});
const DeliverySummary = Type.Object(
	{
		webhook_id: id("wh", "webhook"),
		event_id: EventId,
		event_type: EventTypeName,
		replay: Type.Integer({ minimum: 0, description: "0 for the first series, then 1, 2 … for each replay." }),
		test: Type.Boolean({ description: "Whether the event is a test event." }),
		state: DeliveryStateName,
		attempts: Type.Integer({ minimum: 0, description: "How many attempts of this series were made." }),
		last_attempt: Type.Union([AttemptSummary, Type.Null()], {
			description: "Null before the first attempt of a replay or test event.",
		}),
		next_retry_at: TimeOrNull,
		handled: Type.Union([Type.Enum(["replayed", "dismissed"], { type: "string" }), Type.Null()], {
			description: "Of a failed delivery: what was done about it; null if nothing was.",
		}),
	},
	{ title: "DeliverySummary", description: "A series of attempts of one event to one webhook." },
);
const filters = {
	webhook_id: Type.Optional(
		Type.Array(soughtId("A webhook, even if it was deleted."), {
			minItems: 1,
			maxItems: MAX_WEBHOOKS,
			description: `Deliveries to any of these webhooks. ${SEVERAL}`,
		}),
	),
	type: Type.Optional(
		Type.Array(EventTypeName, { minItems: 1, maxItems: 20, description: `Events of any of these types. ${SEVERAL}` }),
	),
	state: Type.Optional(Type.Array(DeliveryStateName, { minItems: 1, maxItems: 3, description: SEVERAL })),
	status_code: Type.Optional(statusCodes(`Of the last attempt. ${SEVERAL}`)),
	error: Type.Optional(
		Type.Array(Type.String({ pattern: "^[a-z_]{1,40}$" }), {
			minItems: 1,
			maxItems: 20,
			description: `The \`error_code\` of the last attempt, such as \`timeout\`. With \`status_code\`, either matches. ${SEVERAL}`,
		}),
	),
	event_id: Type.Optional(soughtId("Deliveries of this event.")),
	since: Type.Optional(givenTime("The last attempt started at this time or later.")),
	until: Type.Optional(givenTime("The last attempt started before this time.")),
	unhandled: Type.Optional(
		Type.Enum(["true"], {
			type: "string",
			description: "`true` leaves out failed deliveries that were replayed or dismissed, and those of test events.",
		}),
	),
};

export const DeliveryFilterQuery = Type.Object(filters, { additionalProperties: false });

const DeliveryQuery = Type.Object({ ...filters, limit: Limit, cursor: Cursor }, { additionalProperties: false });

/** @throws Problem 422 if the filter has too many combinations */
export function deliveryFilterOf(query: Static<typeof DeliveryFilterQuery>): DeliveryFilter {
	const { webhook_id = [], type = [], state = DELIVERY_STATES, status_code = [], error = [] } = query;
	const filter = {
		webhookIds: [...new Set(webhook_id)],
		types: [...new Set(type)],
		states: [...new Set(state)],
		codes: status_code.map(codeRange),
		errors: error,
		...(query.event_id !== undefined && { eventId: query.event_id }),
		...timeRange(query.since, query.until),
		unhandled: query.unhandled === "true",
	};
	const combinations = countCombinations(filter);
	if (combinations > LOG_READS.combinations) {
		const detail = `${combinations} combinations of webhooks, types and states, at most ${LOG_READS.combinations} are possible: filter by fewer`;
		throw invalid([{ pointer: "?type", detail }]);
	}
	return filter;
}

/** The delivery log by deliveries. */
export function deliveryListRoutes({ storage }: Pick<ApiParts, "storage">): Route[] {
	return [
		route("GET", "/v1/projects/{project_id}/deliveries", "listDeliveries", {
			summary: "List deliveries",
			description: `Newest first, by the last attempt. Filters combine; values of one filter are alternatives. Webhooks × types × states can be at most ${LOG_READS.combinations}. Events that wait for their first attempt aren't listed: they are the webhook's backlog. A page examines about ${LOG_READS.attemptsScanned.toLocaleString("en-US")} attempts at most, so it may be short or empty even if more follow. Continue until \`next_cursor\` is null.`,
			access: "developer",
			query: DeliveryQuery,
			heavy: true,
			rate: "reads",
			success: { status: 200, description: "A page of deliveries.", schema: list(DeliverySummary) },
			async handler({ params: { project_id }, query, request, reply }) {
				const { limit = PAGE_LIMIT.default, cursor } = query;
				const filter = deliveryFilterOf(query);
				const before = cursor === undefined ? undefined : decodeCursor(cursor, (text) => isId("attempt", text));
				const isGone = () => reply.raw.destroyed || request.raw.socket.destroyed;
				const { rows, next } = await listDeliveries(storage, project_id, filter, { limit, before, isGone });
				return { data: rows.map(presentDelivery), next_cursor: next === null ? null : encodeCursor(next) };
			},
		}),
	];
}

export function presentDelivery(delivery: FoundDelivery): Static<typeof DeliverySummary> {
	return {
		webhook_id: delivery.webhookId,
		event_id: delivery.eventId,
		event_type: delivery.eventType as EventType,
		replay: delivery.replay,
		test: delivery.seq < 0,
		state: delivery.state,
		attempts: delivery.attempts,
		last_attempt: delivery.last && presentAttemptSummary(delivery.last),
		next_retry_at: formatTimeOrNull(delivery.nextAt),
		handled: delivery.handled,
	};
}
