import { type EventType, isoTime, isoTimeOrNull } from "@posthorn/protocol";
import type { Static } from "typebox";
import { endOfRights } from "../../../accounts/index.ts";
import { LOG_READS, WAITERS } from "../../../base/budgets.ts";
import { chunksOf } from "../../../base/collections.ts";
import { readFigures } from "../../../registry/figures.ts";
import {
	HEALTH,
	HEALTH_STATES,
	healthOf,
	healthWindowStart,
	isDown,
	NO_FIGURES,
	readHealthOf,
} from "../../../registry/health.ts";
import type { WebhookView } from "../../../registry/webhooks.ts";
import { orderIdsOf } from "../../../search/references.ts";
import type * as port from "../../../storage/port.ts";
import { MAX_FAILED_IN_A_ROW } from "../../../storage/port.ts";
import { principalName } from "../../auth/callers.ts";
import { EVENT_STREAM } from "../../changes.ts";
import { RETRY_S, retryLater } from "../../http/problem.ts";
import { type ApiParts, RawResponse, type Route, routeIn } from "../../route.ts";
import {
	component,
	count,
	EventId,
	EventTypeName,
	id,
	Limit,
	optional,
	orNull,
	soughtId,
	strictObject,
	Time,
	TimeOrNull,
	Type,
	wholeList,
} from "../../schema.ts";
import { AttemptSummary, OrderId, presentAttemptSummary } from "../log/attempts.ts";
import { SEVERAL } from "../log/log-filters.ts";
import { Backlog, presentBacklog, soughtWebhookId } from "./webhooks.ts";

const route = routeIn("Insight", "developer");

const outcomes = {
	delivered: count("Attempts that were delivered, without test events."),
	retrying: count("Attempts that failed and are retried, without test events."),
	failed: count(
		"Attempts that failed and aren't retried, without test events. Deliveries closed without a request count, too.",
	),
};
const milliseconds = (description: string) =>
	orNull(
		Type.Number({ minimum: 0 }),
		`${description}, in milliseconds, accurate to a tenth or a millisecond; null if nothing was sent.`,
	);
const SuccessRate = orNull(
	Type.Number({ minimum: 0, maximum: 1 }),
	"The share of attempts that were delivered; null without attempts. Deliveries closed without a request don't count.",
);
const counts = {
	events: count("Events that were appended to the project's log; 0 for a single webhook."),
	...outcomes,
};
const responseTimes = {
	p50_ms: milliseconds("The time within which half of the requests got a response or failed"),
	p95_ms: milliseconds("The time within which 95% of the requests got a response or failed"),
};

const StatsRange = Type.Enum(["hour", "day", "month"], {
	description: "60 minutes, 24 hours or 30 days (UTC); the last one is in progress.",
});
const Stats = component("Stats")({
	range: StatsRange,
	step_ms: Type.Integer({ description: "The length of a bucket in milliseconds." }),
	since: Time,
	until: Time,
	buckets: Type.Array(Type.Object({ at: Time, ...counts, ...responseTimes }), {
		description: "Oldest first, including empty ones. An attempt counts in the bucket in which it started.",
	}),
	total: Type.Object({ ...counts, success_rate: SuccessRate, ...responseTimes }),
});

const percent = (share: number) => `${share * 100}%`;
const STATE_WORDS = [
	`Judged over the last ${HEALTH.windowMinutes} minutes; test events and deliveries closed without a request don't count.`,
	`\`failing\`: its secret can't be read, or at least ${HEALTH.failingAttempts} attempts in a row have failed over ${HEALTH.failingSeconds} seconds or more, or nothing was ever delivered, or fewer than ${percent(HEALTH.failingShare)} of at least ${HEALTH.failingOf} attempts were delivered.`,
	`\`unstable\`: ${HEALTH.unstableAttempts} or more attempts have failed, and at least ${percent(HEALTH.unstableShare)} of them; or the last one failed and none was delivered.`,
	"`idle`: the delivery log has no attempt.",
].join(" ");

export const Waiting = Type.Object(
	{ count: count(), tests: count("How many of these are of test events."), next_at: TimeOrNull },
	{ description: "Pending retries and replays." },
);
export const presentWaiting = ({ count, tests, nextAt }: port.WebhookHealth["waiting"]): Static<typeof Waiting> => ({
	count,
	tests,
	next_at: isoTimeOrNull(nextAt),
});

const WebhookHealth = component("WebhookHealth")({
	webhook_id: id("webhook"),
	state: Type.Enum([...HEALTH_STATES], { description: STATE_WORDS }),
	last_attempt: orNull(AttemptSummary, "The newest attempt in the log, without test events and closed deliveries."),
	failing_since: orNull(AttemptSummary, "If the last attempt failed: the first attempt since the last delivered one."),
	failed_in_a_row: Type.Integer({
		minimum: 0,
		maximum: MAX_FAILED_IN_A_ROW,
		description: `How many attempts have failed since the last delivered one, counted up to ${MAX_FAILED_IN_A_ROW}.`,
	}),
	down: Type.Boolean({
		description: `Whether nothing has been delivered lately: the last attempt failed, and so did all of \`recent\`, or at least ${HEALTH.failingAttempts} in a row over ${HEALTH.failingSeconds} seconds or more.`,
	}),
	recent: Type.Object(
		{
			since: Time,
			minutes: Type.Integer({ description: "Its length in minutes; the last one is in progress." }),
			delivered: count("Attempts that were delivered."),
			failed: count("Attempts that failed, whether they are retried or not."),
		},
		{ description: "The window that `state` is judged by. Test events and closed deliveries are left out." },
	),
	last_delivered_at: orNull(Time, "Test events count here, too. Null if the log has no delivered attempt."),
	logged_since: Type.Union([Time], {
		description:
			"The log has all of its attempts since then: since it was created, or for as long as the log is kept. If `last_delivered_at` is null, nothing was delivered since then.",
	}),
	waiting: Waiting,
	dead_letters: count("Dead-lettered deliveries that were neither replayed nor dismissed, without test events."),
	backlog: Backlog,
	day: Type.Object(
		{ ...outcomes, success_rate: SuccessRate, p95_ms: responseTimes.p95_ms },
		{ description: "The totals of the last 24 hours, as in `hours`." },
	),
	hours: Type.Array(Type.Object({ at: Time, ...outcomes }), {
		description: "24 hours, oldest first; the last one is in progress. Empty with `hours=false`.",
	}),
});
const WaitingAttempt = component("WaitingAttempt")({
	webhook_id: id("webhook"),
	event_id: EventId,
	event_type: EventTypeName,
	order_id: OrderId,
	queue: Type.Enum(["retry", "replay", "requested"], {
		description:
			"`requested`: the first attempt of a test event or a single replay. `replay`: the first attempt of a bulk replay. `retry`: any other.",
	}),
	attempt: Type.Integer({ minimum: 1, description: "Its number within its series." }),
	replay: count("0 for the first series, then 1, 2 … for each replay."),
	test: Type.Boolean({ description: "Whether the event is a test event." }),
	due_at: Time,
});

const HOUR_MS = 3_600_000;

/** The next whole hour, so that it doesn't change with each response. */
const completeSince = (at: number): number => Math.ceil(at / HOUR_MS) * HOUR_MS;

/** @param day the webhook's last 24 hours by the hour */
function presentHealth(
	{ webhook, backlog, secretState }: WebhookView,
	health: Omit<port.WebhookHealth, "webhookId"> = NO_FIGURES,
	day: port.Stats,
	{ now, retentionMs }: { readonly now: number; readonly retentionMs: number },
): Static<typeof WebhookHealth> {
	const { lastAttempt, failingSince, recent, lastDeliveredAt, waiting, deadLetters } = health;
	const figures = { ...health, status: webhook.status, secretState };
	return {
		webhook_id: webhook.id,
		state: healthOf(figures, now),
		last_attempt: lastAttempt && presentAttemptSummary(lastAttempt),
		failing_since: failingSince && presentAttemptSummary(failingSince),
		failed_in_a_row: health.failedInARow,
		down: isDown(figures, now),
		recent: { since: isoTime(healthWindowStart(now)), minutes: HEALTH.windowMinutes, ...recent },
		last_delivered_at: isoTimeOrNull(lastDeliveredAt),
		logged_since: isoTime(Math.max(webhook.createdAt, completeSince(now - retentionMs))),
		waiting: presentWaiting(waiting),
		dead_letters: deadLetters,
		backlog: presentBacklog(backlog),
		day: { ...outcomesOf(day.total), success_rate: successRate(day.total), p95_ms: day.total.p95Ms },
		hours: day.buckets.map((hour) => ({ at: isoTime(hour.at), ...outcomesOf(hour) })),
	};
}

function presentRetry(retry: port.WaitingRetry, orderId: string | null): Static<typeof WaitingAttempt> {
	return {
		webhook_id: retry.webhookId,
		event_id: retry.eventId,
		event_type: retry.eventType as EventType,
		order_id: orderId,
		queue: retry.queue,
		attempt: retry.attempt,
		replay: retry.replay,
		test: retry.seq < 0,
		due_at: isoTime(retry.dueAt),
	};
}

const outcomesOf = ({ delivered, retrying, failed }: port.AttemptCounts) => ({ delivered, retrying, failed });

const countsOf = (counts: port.AttemptCounts & { readonly events: number }) => ({
	events: counts.events,
	...outcomesOf(counts),
	p50_ms: counts.p50Ms,
	p95_ms: counts.p95Ms,
});

function successRate({ delivered, retrying, failed, closed }: port.AttemptCounts): number | null {
	const all = delivered + retrying + failed - closed;
	return all === 0 ? null : delivered / all;
}

const RANGES = {
	hour: { steps: 60, stepMs: 60_000 },
	day: { steps: 24, stepMs: HOUR_MS },
	month: { steps: 30, stepMs: 86_400_000 },
} as const;

/** The range that ends with the current minute, hour or day (UTC). */
function statsSpan(range: keyof typeof RANGES, now: number): Pick<port.StatsQuery, "since" | "until" | "stepMs"> {
	const { steps, stepMs } = RANGES[range];
	const until = (Math.floor(now / stepMs) + 1) * stepMs;
	return { stepMs, since: until - steps * stepMs, until };
}

const StatsQuery = strictObject({
	...optional({
		range: StatsRange,
		webhook_id: Type.String({ description: "Only this webhook's, even if it was deleted." }),
	}),
});
const MAX_SOUGHT = 100;

const HealthQuery = strictObject({
	...optional({
		webhook_id: Type.Array(soughtId("A webhook."), {
			minItems: 1,
			maxItems: MAX_SOUGHT,
			description: `Only these webhooks; unknown ids are ignored. ${SEVERAL}`,
		}),
		hours: Type.Enum(["true", "false"], {
			description: "`false` leaves `hours` empty, which makes the response much smaller. The default is `true`.",
		}),
	}),
});
const WaitingQuery = strictObject({
	webhook_id: Type.Optional(Type.String({ description: "Only this webhook's." })),
	limit: Limit,
});

/** What users look at to see how their webhooks are doing. */
export function insightRoutes({ storage, webhooks, clock, config }: ApiParts): Route[] {
	const timeoutMs = config.attemptTimeoutMs;
	const project = "/v1/projects/{project_id}";

	return [
		route("GET", `${project}/stats`, "getStats", {
			summary: "Count attempts over time",
			description:
				"How attempts ended and how long receivers took: over the last hour, day (the default) or month. Test events don't count.",
			query: StatsQuery,
			heavy: true,
			success: { status: 200, description: "The counts.", schema: Stats },
			async handler({ params: { projectId }, query: { range = "day", webhook_id } }) {
				const span = statsSpan(range, clock.now());
				const query = { ...span, webhookId: soughtWebhookId(webhook_id) };
				const { buckets, total } = await readFigures(storage, { projectId, query }, { timeoutMs, fromLog: true });
				return {
					range,
					step_ms: span.stepMs,
					since: isoTime(span.since),
					until: isoTime(span.until),
					buckets: buckets.map((bucket) => ({ at: isoTime(bucket.at), ...countsOf(bucket) })),
					total: { ...countsOf(total), success_rate: successRate(total) },
				};
			},
		}),
		route("GET", `${project}/webhooks/health`, "listWebhookHealth", {
			summary: "Get the health of each webhook",
			description:
				"With many webhooks, pass `hours=false`, and request the hourly counts only of the webhooks that you show.",
			query: HealthQuery,
			heavy: true,
			success: {
				status: 200,
				description: "The health of the webhooks, oldest first.",
				schema: wholeList("WebhookHealthList", WebhookHealth),
			},
			async handler({ params: { projectId }, query }) {
				const now = clock.now();
				const span = statsSpan("day", now);
				const sought = query.webhook_id;
				const views = await (sought === undefined ? webhooks.all(projectId) : webhooks.some(projectId, sought));
				const ids = views.map(({ webhook }) => webhook.id);
				const byId = await readHealthOf(storage, projectId, ids, now);
				const present = async (view: WebhookView) => {
					const webhookId = view.webhook.id;
					// A project may have thousands of webhooks, and none of their attempts is shown next to this.
					const of = { projectId, query: { ...span, webhookId } };
					const day = await readFigures(storage, of, { timeoutMs, fromLog: false });
					const health = presentHealth(view, byId.get(webhookId), day, { now, retentionMs: config.logRetentionMs });
					return query.hours === "false" ? { ...health, hours: [] } : health;
				};
				const data: Static<typeof WebhookHealth>[] = [];
				for (const step of chunksOf(views, LOG_READS.statsPerStep))
					data.push(...(await Promise.all(step.map(present))));
				return { data };
			},
		}),
		route("GET", `${project}/waiting`, "listWaiting", {
			summary: "List pending retries and replays",
			description: "Soonest first.",
			query: WaitingQuery,
			heavy: true,
			success: { status: 200, description: "The pending attempts.", schema: wholeList("WaitingList", WaitingAttempt) },
			async handler({ params: { projectId }, query: { webhook_id, limit } }) {
				const webhookId = soughtWebhookId(webhook_id) ?? null;
				const waiting = await storage.listWaitingRetries({ projectId, webhookId, limit });
				const orderIds = await orderIdsOf(storage, projectId, waiting);
				return { data: waiting.map((retry) => presentRetry(retry, orderIds.get(retry.seq) ?? null)) };
			},
		}),
	];
}

export function changeRoutes({ changes }: ApiParts): Route[] {
	return [
		route("GET", "/v1/projects/{project_id}/changes", "listenToChanges", {
			summary: "Listen to changes",
			description:
				"A stream of server-sent events for live pages. `attempts` and `webhooks` are hints, each sent at most twice a second, that there is something new to fetch. They carry no data, and one may be lost when a connection breaks, so fetch once after each connect.",
			success: {
				status: 200,
				description: "The stream, which lasts until either side closes it.",
				schema: Type.String(),
				contentType: "text/event-stream",
			},
			handler({ params: { projectId }, principal, request, isStillAllowed }) {
				// A HEAD request would neither read nor close it.
				if (request.method === "HEAD") return new RawResponse("", EVENT_STREAM);
				const stream = changes.listen(projectId, principalName(principal), isStillAllowed, endOfRights(principal));
				if (typeof stream === "string") {
					const open = {
						listener: `${WAITERS.streams} streams`,
						project: `${WAITERS.streamsOfProject} streams of this project`,
					};
					throw retryLater("own", `${open[stream]} are already open.`, RETRY_S.streams);
				}
				// Asks proxies not to buffer.
				return new RawResponse(stream, EVENT_STREAM, { "X-Accel-Buffering": "no" });
			},
		}),
	];
}
