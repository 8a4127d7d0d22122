import type { Static } from "typebox";
import { RESPONSES } from "../../base/budgets.ts";
import { isId } from "../../base/ids.ts";
import type { Attempt, ReplayFilter } from "../../storage/port.ts";
import { notFound, Problem } from "../http/problem.ts";
import { decodeCursor, encodeCursor } from "../http/query.ts";
import { formatTime, formatTimeOrNull, parseTime, timeRange } from "../http/time.ts";
import type { ApiParts } from "../parts.ts";
import { defineRoute, type Route } from "../route.ts";
import { attemptFilter, presentAttempt } from "../schemas/attempts.ts";
import { Delivery, ReplayAccepted, ReplayedCount, ReplayRequest, Replays, ReplaysRequest } from "../schemas/index.ts";

/** Deliveries queued per transaction. */
const REPLAY_STEP = 1_000;

type DeliveryParts = Pick<ApiParts, "storage" | "engine" | "clock">;

export function deliveryRoutes({ storage, engine, clock }: DeliveryParts): Route[] {
	const tag = "Delivery log";
	const webhook = "/v1/projects/{project_id}/webhooks/{webhook_id}";
	const path = `${webhook}/deliveries/{event_id}`;
	return [
		defineRoute({
			method: "GET",
			path,
			operationId: "getDelivery",
			tag,
			summary: "Get a delivery",
			description: "The state and attempts of an event's delivery to a webhook.",
			access: "developer",
			success: { status: 200, description: "The delivery with its attempts.", schema: Delivery },
			async handler({ params: { project_id, webhook_id, event_id } }) {
				const delivery = await storage.getDelivery({ projectId: project_id, webhookId: webhook_id, eventId: event_id });
				if (!delivery) throw notFound("delivery");
				const { state, attempt, replay, nextRetryAt, attempts } = delivery;
				return {
					state,
					attempt,
					replay,
					next_retry_at: formatTimeOrNull(nextRetryAt),
					attempts: newestWithin(attempts, RESPONSES.pageBytes).map(presentAttempt),
				};
			},
		}),
		defineRoute({
			method: "POST",
			path: `${path}/replay`,
			operationId: "replayDelivery",
			tag,
			summary: "Replay a delivery",
			description:
				"Starts a new series of attempts with the webhook's current URL and secret. Any finished delivery can be replayed.",
			access: "developer",
			rate: "replays",
			success: { status: 202, description: "The new series has begun.", schema: ReplayAccepted },
			problems: { conflict: "The delivery is still attempting." },
			async handler({ params: { project_id, webhook_id, event_id }, audit }) {
				const result = await storage.replayDelivery({
					projectId: project_id,
					webhookId: webhook_id,
					eventId: event_id,
					at: clock.now(),
				});
				if (result.kind === "no_delivery") throw notFound("delivery");
				if (result.kind === "attempting")
					throw new Problem(
						"conflict",
						"This delivery is still being attempted. It can be replayed once it has finished.",
					);
				engine.wake(project_id);
				const target = { kind: "event", id: event_id, name: event_id };
				audit({ projectId: project_id, action: "delivery.replayed", target, detail: { webhook_id } });
				return { state: "attempting" as const, attempt: 1, replay: result.replay };
			},
		}),
		defineRoute({
			method: "POST",
			path: `${webhook}/replay`,
			operationId: "replayFailed",
			tag,
			summary: "Replay everything that failed",
			description:
				"Starts a new series for each dead-lettered delivery of the webhook, oldest first. `since` and `until` limit when the failed attempt started.",
			access: "developer",
			body: ReplayRequest,
			rate: "bulkReplays",
			success: { status: 202, description: "How many deliveries are replayed.", schema: ReplayedCount },
			async handler({ params: { project_id, webhook_id }, body, audit }) {
				const webhook = isId("webhook", webhook_id)
					? await storage.getWebhook({ projectId: project_id, webhookId: webhook_id })
					: null;
				if (!webhook) throw notFound("webhook");
				const at = clock.now();
				const range = timeRange(body.since, body.until);
				// Attempts that fail again meanwhile are left alone, so that this ends.
				const filter: ReplayFilter = { ...range, until: Math.min(range.until ?? at + 1, at + 1) };
				let count = 0;
				let after: string | null = null;
				do {
					const step: { count: number; next: string | null } = await storage.replayFailed({
						projectId: project_id,
						webhookId: webhook_id,
						filter,
						at,
						limit: REPLAY_STEP,
						after: after ?? undefined,
					});
					count += step.count;
					after = step.next;
					if (step.count > 0) engine.wake(project_id);
				} while (after !== null);
				const target = { kind: "webhook", id: webhook.id, name: webhook.description || webhook.url };
				audit({ projectId: project_id, action: "deliveries.replayed", target, detail: { filter: body, count } });
				return { count };
			},
		}),
	];
}

/** The newest attempts, at least one, whose bodies together have at most `maxBytes`. */
function newestWithin(attempts: readonly Attempt[], maxBytes: number): readonly Attempt[] {
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

/** Attempts examined per call, so that transactions stay short and progress shows. */
const STEP = 1_000;

type Request = Static<typeof ReplaysRequest>;
type DeliveryKey = NonNullable<Request["deliveries"]>[number];

export function replayRoutes({ storage, engine, clock }: Pick<ApiParts, "storage" | "engine" | "clock">): Route[] {
	async function replayThese(projectId: string, deliveries: readonly DeliveryKey[]) {
		const at = clock.now();
		const results = await Promise.all(
			deliveries.map(({ webhook_id, event_id }) =>
				storage.replayDelivery({ projectId, webhookId: webhook_id, eventId: event_id, at }),
			),
		);
		const count = results.filter(({ kind }) => kind === "queued").length;
		return { count, skipped: deliveries.length - count };
	}

	async function replayMatching(projectId: string, { filter = {}, dry_run = false, cursor, before }: Request) {
		const now = clock.now();
		const at = Math.min((before === undefined ? null : parseTime(before)) ?? now, now);
		const after = cursor === undefined ? undefined : decodeCursor(cursor, (text) => isId("attempt", text));
		const matching = { projectId, selection: attemptFilter(filter), at, limit: STEP, after };
		const step = dry_run ? storage.countMatching(matching) : storage.replayMatching(matching);
		const { count, next } = await step;
		return { count, next_cursor: next === null ? null : encodeCursor(next), before: formatTime(at) };
	}

	return [
		defineRoute({
			method: "POST",
			path: "/v1/projects/{project_id}/replays",
			operationId: "replayMany",
			tag: "Delivery log",
			summary: "Replay many deliveries",
			description:
				"Replays the given deliveries, or one step of those whose newest attempt matches a filter, oldest first. Call again with `cursor` and `before` from the response until `next_cursor` is null. Deliveries that are still being attempted are skipped.",
			access: "developer",
			body: ReplaysRequest,
			rate: "bulkReplays",
			success: { status: 202, description: "How many deliveries are replayed.", schema: Replays },
			async handler({ params: { project_id }, body, audit }) {
				const { deliveries, filter, dry_run } = body;
				if (deliveries?.some(({ webhook_id }) => !isId("webhook", webhook_id))) throw notFound("webhook");
				const answer = deliveries ? await replayThese(project_id, deliveries) : await replayMatching(project_id, body);
				if (dry_run === true || answer.count === 0) return answer;
				engine.wake(project_id);
				const detail = { ...(filter && { filter }), count: answer.count };
				audit({ projectId: project_id, action: "deliveries.replayed", detail });
				return answer;
			},
		}),
	];
}
