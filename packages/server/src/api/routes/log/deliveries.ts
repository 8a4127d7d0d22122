import { type EventType, isoTime, isoTimeOrNull } from "@posthorn/protocol";
import type { Static } from "typebox";
import { RESPONSES } from "../../../base/budgets.ts";
import { isId } from "../../../base/ids.ts";
import type * as port from "../../../storage/port.ts";
import { found, notFound, Problem } from "../../http/problem.ts";
import { parseTime, timeRange } from "../../http/validate.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import { closed, cursor, EventTypeName, givenTime, id, Time, TimeOrNull, Type } from "../../schema.ts";
import { Attempt, AttemptStatusName, attemptFilter, presentAttempt, searchedOf } from "./attempts.ts";
import { auditedFilter, bodyFilters, cursorOf, namedDeliveries, positionOf } from "./log-filters.ts";

const route = routeIn("Delivery log");

export const Delivery = Type.Object(
	{
		state: Type.Enum(["attempting", "delivered", "dead_lettered"], { type: "string" }),
		attempt: Type.Integer({ description: "The attempt that is due or in flight, or the last one made." }),
		replay: Type.Integer(),
		next_retry_at: TimeOrNull,
		dismissed: Type.Boolean({ description: "Whether it is dead-lettered and was dismissed." }),
		attempts: Type.Array(Attempt, {
			description: "The attempts of all series, oldest first; at most the newest 200, and 4 MiB.",
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
		since: Type.Optional(givenTime("Attempts that started at this time or later.")),
		until: Type.Optional(givenTime("Attempts that started before this time.")),
	},
	{ ...closed, title: "ReplayRequest", examples: [{ status: "failed" }] },
);

export const ReplayedCount = Type.Object({ count: Type.Integer() }, { title: "ReplayedCount" });

const ReplayFilter = Type.Object(
	{
		...bodyFilters,
		status: Type.Optional(Type.Union([AttemptStatusName, Type.Array(AttemptStatusName, { minItems: 1, maxItems: 3 })])),
	},
	{
		...closed,
		description:
			"As for the list of attempts. A delivery matches if its newest attempt does. Test events never match: replay those one by one.",
	},
);

export const ReplaysRequest = Type.Object(
	{
		deliveries: Type.Optional(
			namedDeliveries("Replays these deliveries. Those that are still being attempted or don't exist are skipped."),
		),
		filter: Type.Optional(ReplayFilter),
		dry_run: Type.Optional(Type.Boolean({ description: "With `filter`: only count." })),
		cursor: Type.Optional(cursor("the previous step")),
		before: Type.Optional(
			givenTime(
				"With `filter`: the `before` from the first step. Later attempts are left alone, so that the replay ends.",
			),
		),
	},
	{
		...closed,
		oneOf: [{ required: ["deliveries"] }, { required: ["filter"] }],
		dependentRequired: { dry_run: ["filter"], cursor: ["filter"], before: ["filter"] },
		errorMessage: 'must have either "deliveries" or "filter"',
		title: "ReplaysRequest",
		examples: [
			{ filter: { status: "failed", type: "purchase.completed" }, dry_run: true },
			{ deliveries: [{ webhook_id: "wh_01kbjh6mrxe3q8z1v2t4w5y6a7", event_id: "evt_01kbjh6mrxe3q8z1v2t4w5y6a7" }] },
		],
	},
);

export const Replays = Type.Object(
	{
		count: Type.Integer({ minimum: 0, description: "How many deliveries are replayed, or would be." }),
		skipped: Type.Optional(
			Type.Integer({ minimum: 0, description: "With `deliveries`: how many are still attempting or don't exist." }),
		),
		left: Type.Optional(
			Type.Integer({
				minimum: 0,
				description:
					"With `deliveries`: how many of the last of them weren't reached, because storage failed. Call again with these. Absent if there are none.",
			}),
		),
		groups: Type.Optional(
			Type.Array(
				Type.Object({
					webhook_id: id("wh", "webhook"),
					type: EventTypeName,
					count: Type.Integer({ minimum: 1 }),
				}),
				{ description: "With `dry_run`: how many of this step, by webhook and event type." },
			),
		),
		oldest_at: Type.Optional(
			Type.Union([Time, Type.Null()], {
				description: "With `dry_run`: when the last attempts of the first and last of this step started.",
			}),
		),
		newest_at: Type.Optional(Type.Union([Time, Type.Null()])),
		next_cursor: Type.Optional(
			Type.Union([Type.String(), Type.Null()], {
				description:
					"With `filter`: call again with it as `cursor`, even after a `count` of 0; null after the last step.",
			}),
		),
		before: Type.Optional(Time),
		...searchedOf,
	},
	{ title: "Replays" },
);

/** Attempts examined per call, so that transactions stay short and progress shows. */
const STEP = 1_000;

type DeliveryParts = Pick<ApiParts, "storage" | "engine" | "clock">;

export function deliveryRoutes({ storage, engine, clock }: DeliveryParts): Route[] {
	const webhook = "/v1/projects/{project_id}/webhooks/{webhook_id}";
	const path = `${webhook}/deliveries/{event_id}`;
	return [
		route("GET", path, "getDelivery", {
			summary: "Get a delivery",
			description: "The state and attempts of an event's delivery to a webhook.",
			access: "developer",
			success: { status: 200, description: "The delivery with its attempts.", schema: Delivery },
			async handler({ params: { projectId, webhookId, eventId } }) {
				const of = { projectId, webhookId, eventId };
				const { state, attempt, replay, nextRetryAt, dismissed, attempts } = found(
					"delivery",
					await storage.getDelivery(of),
				);
				return {
					state,
					attempt,
					replay,
					next_retry_at: isoTimeOrNull(nextRetryAt),
					dismissed,
					attempts: newestWithin(attempts, RESPONSES.pageBytes).map(presentAttempt),
				};
			},
		}),
		route("POST", `${path}/replay`, "replayDelivery", {
			summary: "Replay a delivery",
			description:
				"Starts a new series of attempts with the webhook's current URL and secret. Any finished delivery can be replayed.",
			access: "developer",
			rate: "replays",
			success: { status: 202, description: "The new series has begun.", schema: ReplayAccepted },
			problems: { conflict: "The delivery is still attempting." },
			async handler({ params: { projectId, webhookId, eventId }, audit }) {
				const of = { projectId, webhookId, eventId };
				const call = storage.replayDelivery({ ...of, at: clock.now() });
				const result = await engine.wakeAfter(projectId, call, ({ kind }) => kind === "queued");
				if (result.kind === "no_delivery") throw notFound("delivery");
				if (result.kind === "attempting")
					throw new Problem(
						"conflict",
						"This delivery is still being attempted. It can be replayed once it has finished.",
					);
				const target = { kind: "event", id: eventId, name: eventId };
				audit({ projectId, action: "delivery.replayed", target, detail: { webhook_id: webhookId } });
				return { state: "attempting" as const, attempt: 1, replay: result.replay };
			},
		}),
		route("POST", `${webhook}/replay`, "replayFailed", {
			summary: "Replay everything that failed",
			description:
				"Starts a new series for each dead-lettered delivery of the webhook, oldest first, without test events. `since` and `until` limit when the failed attempt started.",
			access: "developer",
			body: ReplayRequest,
			rate: "bulkReplays",
			success: { status: 202, description: "How many deliveries are replayed.", schema: ReplayedCount },
			async handler({ params: { projectId, webhookId }, body, audit }) {
				const webhook = found("webhook", await storage.getWebhook({ projectId, webhookId }));
				const at = clock.now();
				const selection = { ...timeRange(body.since, body.until), webhookIds: [webhookId], statuses: [body.status] };
				let count = 0;
				let after: string | undefined;
				do {
					// Attempts that fail again meanwhile are left alone, so that this ends.
					const step = await engine.wakeAfter(
						projectId,
						storage.replayMatching({ projectId, selection, at, limit: STEP, after }),
						({ count }) => count > 0,
					);
					count += step.count;
					after = step.next ?? undefined;
				} while (after !== undefined);
				const target = { kind: "webhook", id: webhook.id, name: webhook.description || webhook.url };
				audit({ projectId, action: "deliveries.replayed", target, detail: { filter: body, count } });
				return { count };
			},
		}),
	];
}

/** The newest attempts, at least one, whose bodies together have at most `maxBytes`. */
function newestWithin(attempts: readonly port.Attempt[], maxBytes: number): readonly port.Attempt[] {
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

type Request = Static<typeof ReplaysRequest>;
type DeliveryKey = NonNullable<Request["deliveries"]>[number];

type ReplayParts = DeliveryParts & Pick<ApiParts, "logger" | "references">;

export function replayRoutes({ storage, engine, clock, logger, references }: ReplayParts): Route[] {
	/** One after the other, each in its own transaction. If one fails, those before it stay replayed. */
	async function replayThese(projectId: string, deliveries: readonly DeliveryKey[]) {
		const at = clock.now();
		let [count, skipped] = [0, 0];
		for (const { webhook_id, event_id } of deliveries) {
			try {
				const { kind } = await storage.replayDelivery({ projectId, webhookId: webhook_id, eventId: event_id, at });
				if (kind === "queued") count++;
				else skipped++;
			} catch (error) {
				if (count === 0) throw error;
				logger.warn({ err: error, projectId, count }, "failed to replay all of a selection");
				return { count, skipped, left: deliveries.length - count - skipped };
			}
		}
		return { count, skipped };
	}

	async function replayMatching(projectId: string, { filter = {}, dry_run = false, cursor, before }: Request) {
		const now = clock.now();
		const at = Math.min((before === undefined ? null : parseTime(before)) ?? now, now);
		const after = positionOf(cursor, "/cursor");
		const { filter: selection, searched } = await attemptFilter(references, projectId, filter);
		const matching = { projectId, selection, at, limit: STEP, after };
		const rest = (next: string | null) => ({
			next_cursor: cursorOf(next),
			before: isoTime(at),
			...searched,
		});
		if (!dry_run) {
			const { count, next } = await storage.replayMatching(matching);
			return { count, ...rest(next) };
		}
		const { count, next, groups, oldestAt, newestAt } = await storage.countMatching(matching);
		return {
			count,
			groups: groups.map(({ webhookId, eventType, count }) => ({
				webhook_id: webhookId,
				type: eventType as EventType,
				count,
			})),
			oldest_at: isoTimeOrNull(oldestAt),
			newest_at: isoTimeOrNull(newestAt),
			...rest(next),
		};
	}

	return [
		route("POST", "/v1/projects/{project_id}/replays", "replayMany", {
			summary: "Replay many deliveries",
			description:
				"Replays the given deliveries, or one step of those whose newest attempt matches a filter, oldest first. Call again with `cursor` and `before` from the response until `next_cursor` is null. Deliveries that are still being attempted are skipped.",
			access: "developer",
			body: ReplaysRequest,
			rate: "bulkReplays",
			success: { status: 202, description: "How many deliveries are replayed.", schema: Replays },
			async handler({ params: { projectId }, body, audit }) {
				const { deliveries, filter, dry_run } = body;
				if (deliveries?.some(({ webhook_id }) => !isId("webhook", webhook_id))) throw notFound("webhook");
				const call = deliveries ? replayThese(projectId, deliveries) : replayMatching(projectId, body);
				const result = await engine.wakeAfter<Awaited<typeof call>>(
					projectId,
					call,
					({ count }) => dry_run !== true && count > 0,
				);
				if (dry_run === true || result.count === 0) return result;
				const detail = { ...(filter && { filter: auditedFilter(filter) }), count: result.count };
				audit({ projectId, action: "deliveries.replayed", detail });
				return result;
			},
		}),
	];
}
