import { AttemptSummary } from "./attempts.ts";
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
	p50_ms: milliseconds("The time within which half of the requests were answered or failed"),
	p95_ms: milliseconds("The time within which 95% of the requests were answered or failed"),
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
