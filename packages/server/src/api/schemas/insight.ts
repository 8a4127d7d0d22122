import type { EventType } from "@posthorn/protocol";
import type { Static } from "typebox";
import type { WebhookView } from "../../registry/webhooks.ts";
import type * as port from "../../storage/port.ts";
import type { StatsQuery } from "../../storage/port.ts";
import { formatTime, formatTimeOrNull } from "../http/time.ts";
import { AttemptSummary, presentAttemptSummary } from "./attempts.ts";
import { Backlog, EventTypeName, id, Time, TimeOrNull } from "./common.ts";
import { EventId } from "./events.ts";
import { Type } from "./type.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });
const outcomes = {
	delivered: count("Attempts that were delivered."),
	retrying: count("Attempts that failed and are retried."),
	failed: count("Attempts that failed and aren't retried."),
};
const milliseconds = (description: string) =>
	Type.Union([Type.Number({ minimum: 0 }), Type.Null()], {
		description: `${description}, in milliseconds, accurate to a tenth or a millisecond; null if nothing was sent.`,
	});
const SuccessRate = Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
	description: "The share of attempts that were delivered; null without attempts.",
});
const counts = {
	events: count("Events that were appended to the project's log; 0 for a single webhook."),
	...outcomes,
};
const responseTimes = {
	p50_ms: milliseconds("The time within which half of the requests got a response or failed"),
	p95_ms: milliseconds("The time within which 95% of the requests got a response or failed"),
};

export const StatsRange = Type.Enum(["hour", "day", "month"], {
	type: "string",
	description: "60 minutes, 24 hours or 30 days (UTC); the last one is in progress.",
});
export const Stats = Type.Object(
	{
		range: StatsRange,
		step_ms: Type.Integer({ description: "The length of a bucket in milliseconds." }),
		since: Time,
		until: Time,
		buckets: Type.Array(Type.Object({ at: Time, ...counts, ...responseTimes }), {
			description: "Oldest first, including empty ones. An attempt counts in the bucket in which it started.",
		}),
		total: Type.Object({ ...counts, success_rate: SuccessRate, ...responseTimes }),
	},
	{ title: "Stats" },
);

const summaryOrNull = (description: string) => Type.Union([AttemptSummary, Type.Null()], { description });

export const WebhookHealth = Type.Object(
	{
		webhook_id: id("wh", "webhook"),
		state: Type.Enum(["paused", "failing", "healthy", "idle"], {
			type: "string",
			description: "`failing`: the last attempt failed. `idle`: the delivery log has no attempt.",
		}),
		last_attempt: summaryOrNull("The newest attempt in the log."),
		failing_since: summaryOrNull("If the last attempt failed: the first attempt since the last delivered one."),
		last_delivered_at: TimeOrNull,
		waiting: Type.Object(
			{ count: Type.Integer({ minimum: 0 }), next_at: TimeOrNull },
			{ description: "Pending retries and replays." },
		),
		dead_letters: count("Dead-lettered deliveries that haven't been replayed."),
		backlog: Backlog,
		day: Type.Object(
			{ ...outcomes, success_rate: SuccessRate, p95_ms: responseTimes.p95_ms },
			{ description: "The totals of the 24 `hours`." },
		),
		hours: Type.Array(Type.Object({ at: Time, ...outcomes }), {
			description: "24 hours, oldest first; the last one is in progress.",
		}),
	},
	{ title: "WebhookHealth" },
);
export const WebhookHealthList = Type.Object({ data: Type.Array(WebhookHealth) }, { title: "WebhookHealthList" });

export const WaitingAttempt = Type.Object(
	{
		webhook_id: id("wh", "webhook"),
		event_id: EventId,
		event_type: EventTypeName,
		queue: Type.Enum(["retry", "replay", "requested"], {
			type: "string",
			description:
				"`requested`: the first attempt of a test event or a single replay. `replay`: the first attempt of a bulk replay. `retry`: any other.",
		}),
		attempt: Type.Integer({ minimum: 1, description: "Its number within its series." }),
		replay: Type.Integer({ minimum: 0, description: "0 for the first series, then 1, 2 … for each replay." }),
		due_at: Time,
	},
	{ title: "WaitingAttempt" },
);
export const WaitingList = Type.Object({ data: Type.Array(WaitingAttempt) }, { title: "WaitingList" });

export function presentStats(span: StatsSpan, { buckets, total }: port.Stats): Static<typeof Stats> {
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
): Static<typeof WebhookHealth> {
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

export function presentWaiting(retry: port.WaitingRetry): Static<typeof WaitingAttempt> {
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
): Static<typeof WebhookHealth>["state"] {
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

/** How many steps of which length a range has. */
const RANGES = {
	hour: { steps: 60, stepMs: 60_000 },
	day: { steps: 24, stepMs: 3_600_000 },
	month: { steps: 30, stepMs: 86_400_000 },
} as const;

export type StatsRangeName = keyof typeof RANGES;

export interface StatsSpan extends Pick<StatsQuery, "since" | "until" | "stepMs"> {
	readonly range: StatsRangeName;
}

/** The range that ends with the current minute, hour or day (UTC). */
export function statsSpan(range: StatsRangeName, now: number): StatsSpan {
	const { steps, stepMs } = RANGES[range];
	const until = (Math.floor(now / stepMs) + 1) * stepMs;
	return { range, stepMs, since: until - steps * stepMs, until };
}
