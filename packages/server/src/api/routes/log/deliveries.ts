import { type EventType, isoTimeOrNull } from "@posthorn/protocol";
import type { Static } from "typebox";
import type { AuditNote } from "../../../accounts/index.ts";
import { LOG_READS, RESPONSES } from "../../../base/budgets.ts";
import { grouped } from "../../../base/text.ts";
import {
	DELIVERY_STATES,
	type DeliveryFilter,
	type FoundDelivery,
	isDeliveryPosition,
	listDeliveries,
} from "../../../search/deliveries.ts";
import type { Attempt as StoredAttempt } from "../../../storage/port.ts";
import { hasLeft } from "../../http/admission.ts";
import { found, Problem } from "../../http/problem.ts";
import { type ApiParts, type PathParams, type Route, routeIn } from "../../route.ts";
import {
	component,
	count,
	decodeCursor,
	EventId,
	EventTypeName,
	id,
	listWith,
	orNull,
	paging,
	strictObject,
	TimeOrNull,
	Type,
} from "../../schema.ts";
import { Attempt, AttemptSummary, OrderId, presentAttempt, presentAttemptSummary, searchedOf } from "./attempts.ts";
import { cursorOf, logFilter, logFilters, type ResolvedFilter, SEVERAL } from "./log-filters.ts";

const route = routeIn("Delivery log", "developer");

const DeliveryStateName = Type.Enum([...DELIVERY_STATES], {
	description: "`waiting`: the next attempt is pending. `failed`: there are no attempts left, or nothing was sent.",
});
const DeliverySummary = component("DeliverySummary", {
	description: "A series of attempts of one event to one webhook.",
})({
	webhook_id: id("webhook"),
	event_id: EventId,
	event_type: EventTypeName,
	order_id: OrderId,
	replay: count("0 for the first series, then 1, 2 … for each replay."),
	test: Type.Boolean({ description: "Whether the event is a test event." }),
	state: DeliveryStateName,
	attempts: count("How many attempts of this series were made."),
	last_attempt: orNull(AttemptSummary, "Null before the first attempt of a replay or test event."),
	next_retry_at: TimeOrNull,
	handled: orNull(Type.Enum(["replayed", "dismissed"]), "What was done about a failed delivery; null if nothing."),
});
const filters = {
	...logFilters("Deliveries"),
	state: Type.Optional(Type.Array(DeliveryStateName, { minItems: 1, maxItems: 3, description: SEVERAL })),
	unhandled: Type.Optional(
		Type.Enum(["true"], {
			description:
				"`true` leaves out failed deliveries that were replayed or dismissed, and those of test events and of deleted webhooks. With `state=failed`, the others are those that `dead_letters` counts.",
		}),
	),
	test: Type.Optional(
		Type.Enum(["true", "false"], {
			description: "`false` leaves out test events, as statistics do; `true` leaves out all others.",
		}),
	),
};

export const DeliveryFilterQuery = strictObject(filters);

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

const Delivery = component("Delivery")({
	state: Type.Enum(["attempting", "delivered", "dead_lettered"]),
	attempt: Type.Integer({ description: "The attempt that is due or in flight, or the last one made." }),
	replay: Type.Integer(),
	next_retry_at: TimeOrNull,
	dismissed: Type.Boolean({ description: "Whether it is dead-lettered and was dismissed." }),
	attempts: Type.Array(Attempt, {
		description: "The attempts of all series, oldest first; at most the newest 200, and 4 MiB.",
	}),
});

const ReplayAccepted = component("ReplayAccepted")({
	state: Type.Enum(["attempting"]),
	attempt: Type.Integer(),
	replay: Type.Integer(),
});

/** Lists deliveries, and reads, replays, retries, cancels or dismisses a single one. */
export function deliveryRoutes({ storage, references, engine, clock }: ApiParts): Route[] {
	const path = "/v1/projects/{project_id}/webhooks/{webhook_id}/deliveries/{event_id}";

	return [
		route("GET", "/v1/projects/{project_id}/deliveries", "listDeliveries", {
			summary: "List deliveries",
			description: `Newest first, by the last attempt; filters by response and time apply to it. Filters combine; values of one filter are alternatives. Events that wait for their first attempt aren't listed: they are the webhook's backlog. A page examines about ${grouped(LOG_READS.attemptsScanned)} attempts at most, so it may be short or empty even if more follow. Continue until \`next_cursor\` is null.`,
			query: strictObject({ ...filters, ...paging }),
			heavy: true,
			success: { status: 200, description: "A page of deliveries.", schema: listWith(DeliverySummary, searchedOf) },
			async handler({ params: { projectId }, query, request, reply }) {
				const { limit, cursor } = query;
				const { filter, searched } = await deliveryFilterOf(references, projectId, query);
				const isGone = () => hasLeft(request, reply);
				const before = cursor === undefined ? undefined : decodeCursor(cursor, isDeliveryPosition);
				const reading = listDeliveries(storage, projectId, filter, { limit, before, isGone });
				const [{ rows, next }, about] = await Promise.all([reading, searched()]);
				return { data: rows.map(presentDelivery), next_cursor: cursorOf(next), ...about };
			},
		}),
		route("GET", path, "getDelivery", {
			summary: "Get a delivery",
			description:
				"The state and attempts of an event's delivery to a webhook. If the webhook unsubscribes from the event's type during its first attempt, the delivery can't be found until that attempt is logged.",
			success: { status: 200, description: "The delivery with its attempts.", schema: Delivery },
			async handler({ params }) {
				const { attempts, ...delivery } = found("delivery", await storage.getDelivery(params));
				return {
					state: delivery.state,
					attempt: delivery.attempt,
					replay: delivery.replay,
					next_retry_at: isoTimeOrNull(delivery.nextRetryAt),
					dismissed: delivery.dismissed,
					attempts: newestWithin(attempts, RESPONSES.pageBytes).map(presentAttempt),
				};
			},
		}),
		route("POST", `${path}/replay`, "replayDelivery", {
			summary: "Replay a delivery",
			description:
				"Starts a new series of attempts with the webhook's current URL and secret. Any finished delivery can be replayed.",
			rate: "replays",
			success: { status: 202, description: "The new series has begun.", schema: ReplayAccepted },
			problems: { conflict: "The delivery is still attempting." },
			async handler({ params, by, audit, gone }) {
				const call = storage.replayDelivery({ ...params, at: clock.now(), by });
				const result = await engine.wakeAfter(params.projectId, call, ({ kind }) => kind === "queued");
				if (result.kind === "no_delivery") return gone("delivery");
				if (result.kind === "attempting")
					throw new Problem(
						"conflict",
						"This delivery is still being attempted: retry it to make its next attempt now. It can be replayed once it has ended.",
					);
				audit(noteOf("delivery.replayed", params));
				return { state: "attempting" as const, attempt: 1, replay: result.replay };
			},
		}),
		route("POST", `${path}/retry`, "retryDelivery", {
			summary: "Retry a delivery now",
			description:
				"Makes the delivery's next attempt immediately instead of at its scheduled time. The attempt keeps its number, and the series gets no extra attempts. While the webhook is paused, the attempt waits until it is resumed.",
			rate: "replays",
			success: { status: 202, description: "The attempt is due now.", schema: ReplayAccepted },
			problems: { conflict: "No attempt of this delivery is waiting." },
			async handler({ params, by, audit, authorizeAgain }) {
				const { projectId, webhookId, eventId } = params;
				const deliveries = [{ webhookId, eventId }];
				const call = storage.retryDeliveries({ projectId, deliveries, at: clock.now(), by });
				const [result] = await engine.wakeAfter(projectId, call, ([one]) => one!.kind === "queued");
				if (result!.kind === "nothing_waits") {
					await authorizeAgain();
					const delivery = found("delivery", await storage.getDelivery(params));
					throw new Problem(
						"conflict",
						delivery.state === "attempting"
							? "This delivery's first attempt isn't a retry. It is made in its turn."
							: "This delivery has ended: no attempt is waiting. Replay it to send it again.",
					);
				}
				audit(noteOf("delivery.retried", params));
				return { state: "attempting" as const, attempt: result!.attempt, replay: result!.replay };
			},
		}),
		route("POST", `${path}/cancel`, "cancelTest", {
			summary: "Cancel a test event",
			description:
				"Ends the delivery of a test event that is waiting for an attempt: instead of the attempt, the log gets an entry with the error code `test_cancelled`. An attempt in flight is finished first, and no other follows. Only test events can be cancelled.",
			rate: "replays",
			success: {
				status: 202,
				description: "It won't be sent again.",
				schema: component("TestCancelled")({ cancelled: Type.Boolean() }),
			},
			problems: { conflict: "It isn't a test event, or no attempt of it is waiting." },
			async handler({ params, by, audit, authorizeAgain }) {
				const call = storage.cancelTest({ ...params, by });
				const result = await engine.wakeAfter(params.projectId, call, (result) => result === "cancelled");
				if (result !== "cancelled") {
					await authorizeAgain();
					found("delivery", await storage.getDelivery(params));
					throw new Problem(
						"conflict",
						result === "not_a_test"
							? "Only test events can be cancelled, because other events must not be lost. Pause the webhook to stop sending."
							: "This test event has ended or was cancelled: no attempt is waiting.",
					);
				}
				audit(noteOf("test.cancelled", params));
				return { cancelled: true };
			},
		}),
		route("POST", `${path}/dismiss`, "dismissDelivery", {
			summary: "Dismiss a dead letter",
			description:
				"Marks a dead-lettered delivery as needing no decision. It no longer counts in `dead_letters`, and replays by filter leave it out; it can still be replayed on its own. Nothing is deleted. A delivery that is already dismissed stays as it is.",
			rate: "replays",
			success: {
				status: 200,
				description: "The delivery is dismissed.",
				schema: component("Dismissed")({ dismissed: Type.Boolean() }),
			},
			problems: { conflict: "The delivery isn't dead-lettered." },
			async handler({ params, by, audit, authorizeAgain }) {
				const { projectId, webhookId, eventId } = params;
				const deliveries = [{ webhookId, eventId }];
				const [dismissed] = await storage.dismissDeliveries({ projectId, deliveries, at: clock.now(), by });
				if (dismissed === null) {
					await authorizeAgain();
					found("delivery", await storage.getDelivery(params));
					throw new Problem("conflict", "Only a dead-lettered delivery can be dismissed. This one isn't.");
				}
				if (dismissed === "dismissed") audit(noteOf("delivery.dismissed", params));
				return { dismissed: true };
			},
		}),
	];
}

function noteOf(action: AuditNote["action"], { projectId, webhookId, eventId }: PathParams): AuditNote {
	const target = { kind: "event", id: eventId, name: eventId };
	return { projectId, action, target, detail: { webhook_id: webhookId } };
}

/** The newest attempts, at least one, whose bodies together have at most `maxBytes`. */
function newestWithin(attempts: readonly StoredAttempt[], maxBytes: number): readonly StoredAttempt[] {
	let bytes = 0;
	let first = attempts.length;
	while (first > 0) {
		const { requestBody, responseBody } = attempts[first - 1]!;
		bytes += requestBody.length + responseBody.length;
		if (bytes > maxBytes && first < attempts.length) break;
		first--;
	}
	return attempts.slice(first);
}
