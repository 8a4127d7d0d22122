import type { EventType } from "@posthorn/protocol";
import type { Static } from "typebox";
import type { WebhookView } from "../registry/index.ts";
import type * as port from "../storage/port.ts";
import { presentAttemptSummary } from "./present.ts";
import type * as schemas from "./schemas/index.ts";
import type { StatsSpan } from "./stats-span.ts";
import { formatTime, formatTimeOrNull } from "./time.ts";

export function presentStats(span: StatsSpan, { buckets, total }: port.Stats): Static<typeof schemas.Stats> {
	return {
		range: span.range,
		step_ms: span.stepMs,
		since: formatTime(span.since),
		until: formatTime(span.until),
		buckets: buckets.map((bucket) => ({ at: formatTime(bucket.at), ...countsOf(bucket) })),
		total: { ...countsOf(total), success_rate: successRate(total) },
	};
}

/** @param day the webhook's last 24 hours by the hour */
export function presentHealth(
	{ webhook, backlog }: WebhookView,
	health: port.WebhookHealth | undefined,
	day: port.Stats,
): Static<typeof schemas.WebhookHealth> {
	const { lastAttempt = null, failingSince = null, lastDeliveredAt = null, waiting, deadLetters = 0 } = health ?? {};
	const { delivered, retrying, failed, p95Ms } = day.total;
	return {
		webhook_id: webhook.id,
		state: stateOf(webhook, lastAttempt, failingSince),
		last_attempt: lastAttempt && presentAttemptSummary(lastAttempt),
		failing_since: failingSince && presentAttemptSummary(failingSince),
		last_delivered_at: formatTimeOrNull(lastDeliveredAt),
		waiting: { count: waiting?.count ?? 0, next_at: formatTimeOrNull(waiting?.nextAt ?? null) },
		dead_letters: deadLetters,
		backlog: { events: backlog.events, oldest_at: formatTimeOrNull(backlog.oldestAt) },
		day: { delivered, retrying, failed, success_rate: successRate(day.total), p95_ms: p95Ms },
		hours: day.buckets.map((hour) => ({
			at: formatTime(hour.at),
			delivered: hour.delivered,
			retrying: hour.retrying,
			failed: hour.failed,
		})),
	};
}

export function presentWaiting(retry: port.WaitingRetry): Static<typeof schemas.WaitingAttempt> {
	return {
		webhook_id: retry.webhookId,
		event_id: retry.eventId,
		event_type: retry.eventType as EventType,
		queue: retry.queue,
		attempt: retry.attempt,
		replay: retry.replay,
		due_at: formatTime(retry.dueAt),
	};
}

function stateOf(
	webhook: port.Webhook,
	lastAttempt: port.AttemptSummary | null,
	failingSince: port.AttemptSummary | null,
): Static<typeof schemas.WebhookHealth>["state"] {
	if (webhook.status === "paused") return "paused";
	if (failingSince) return "failing";
	return lastAttempt ? "healthy" : "idle";
}

const countsOf = (counts: port.AttemptCounts & { readonly events: number }) => ({
	events: counts.events,
	delivered: counts.delivered,
	retrying: counts.retrying,
	failed: counts.failed,
	p50_ms: counts.p50Ms,
	p95_ms: counts.p95Ms,
});

function successRate({ delivered, retrying, failed }: port.AttemptCounts): number | null {
	const all = delivered + retrying + failed;
	return all === 0 ? null : delivered / all;
}
