import { type EventType, requestHeaders } from "@posthorn/protocol";
import type { Static } from "typebox";
import { LOG_READS } from "../../base/budgets.ts";
import type * as port from "../../storage/port.ts";
import type { AttemptFilter, CodeRange } from "../../storage/port.ts";
import { formatTime, formatTimeOrNull, timeRange } from "../http/time.ts";
import {
	Cursor,
	closed,
	cursor,
	EventTypeName,
	givenTime,
	id,
	Limit,
	list,
	soughtId,
	Time,
	TimeOrNull,
} from "./common.ts";
import { EventId } from "./events.ts";
import { Type } from "./type.ts";

export const AttemptStatusName = Type.Enum(["delivered", "retrying", "failed"], {
	type: "string",
	description: "`failed` is dead-lettered: there are no further attempts unless it is replayed.",
});
/** @param how how to pass several */
export const statusCodes = (how: string) =>
	Type.Array(Type.String({ pattern: "^([1-9][0-9]{2}|[1-9]xx|none)$" }), {
		minItems: 1,
		maxItems: 20,
		description: `A status code (\`503\`), a class (\`5xx\`), or \`none\` for attempts without a response. ${how}`,
	});
const identity = {
	id: id("att", "attempt"),
	webhook_id: id("wh", "webhook"),
	event_id: EventId,
	event_type: EventTypeName,
	attempt: Type.Integer({ minimum: 1, description: "Its number within its series." }),
	replay: Type.Integer({ minimum: 0, description: "0 for the first series, then 1, 2 … for each replay." }),
	method: Type.Enum(["POST"], { type: "string" }),
	url: Type.String(),
};
const answer = {
	status_code: Type.Union([Type.Integer(), Type.Null()]),
	error_code: Type.Union([Type.String(), Type.Null()], { description: "A stable code for `error`." }),
	error: Type.Union([Type.String(), Type.Null()], { description: "What went wrong, in words." }),
	response_ms: Type.Integer({
		description:
			"From the attempt's start until the response or the failure. Time spent waiting for the rest of an incomplete response or for a turn to connect doesn't count.",
	}),
};
const outcome = {
	status: AttemptStatusName,
	next_retry_at: TimeOrNull,
	started_at: Time,
};
export const Attempt = Type.Object(
	{
		...identity,
		request_headers: Type.Record(Type.String(), Type.String(), {
			description:
				"The headers that were sent; empty if nothing was sent, for example because the connection was refused.",
		}),
		request_body: Type.String({ description: "The exact body that was sent or would have been sent." }),
		...answer,
		response_body: Type.String({ description: "The first 1,024 bytes. Anything that isn't UTF-8 appears as U+FFFD." }),
		response_truncated: Type.Boolean(),
		...outcome,
	},
	{ title: "Attempt" },
);
export const AttemptSummary = Type.Object(
	{ ...identity, ...answer, ...outcome },
	{ title: "AttemptSummary", description: "An attempt without its headers and bodies." },
);
export const AttemptSummaryList = list(AttemptSummary);
export const AttemptCount = Type.Object(
	{
		count: Type.Integer({ minimum: 0, description: "How many match, up to 10,000." }),
		capped: Type.Boolean({
			description:
				"Whether counting stopped early, because more than 10,000 match or because a call with `status_code` examined as many attempts as it may.",
		}),
	},
	{ title: "AttemptCount" },
);
export const AttemptList = list(Attempt);
export const Delivery = Type.Object(
	{
		state: Type.Enum(["attempting", "delivered", "dead_lettered"], { type: "string" }),
		attempt: Type.Integer({ description: "The attempt that is due or in flight, or the last one made." }),
		replay: Type.Integer(),
		next_retry_at: TimeOrNull,
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
		webhook_id: Type.Optional(soughtId("Attempts of this webhook.")),
		type: Type.Optional(EventTypeName),
		status: Type.Optional(AttemptStatusName),
		status_code: Type.Optional(statusCodes("Any of them matches.")),
		event_id: Type.Optional(soughtId("Attempts of this event.")),
		since: Type.Optional(givenTime("Attempts that started at this time or later.")),
		until: Type.Optional(givenTime("Attempts that started before this time.")),
	},
	{ ...closed, description: "As for the list of attempts. A delivery matches if its newest attempt does." },
);
export const ReplaysRequest = Type.Object(
	{
		deliveries: Type.Optional(
			Type.Array(Type.Object({ webhook_id: soughtId("The webhook."), event_id: soughtId("The event.") }, closed), {
				minItems: 1,
				maxItems: 200,
				description: "Replays these deliveries. Ones that are still attempting or don't exist are skipped.",
			}),
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
		next_cursor: Type.Optional(
			Type.Union([Type.String(), Type.Null()], {
				description:
					"With `filter`: call again with it as `cursor`, even after a `count` of 0; null after the last step.",
			}),
		),
		before: Type.Optional(Time),
	},
	{ title: "Replays" },
);

/** The filters of the delivery log; they combine. */
export const attemptFilters = {
	webhook_id: Type.Optional(soughtId("Attempts of this webhook, even if it was deleted.")),
	type: Type.Optional(EventTypeName),
	status: Type.Optional(AttemptStatusName),
	status_code: Type.Optional(statusCodes("Repeat the parameter or separate values with commas.")),
	event_id: Type.Optional(soughtId("Attempts of this event.")),
	since: Type.Optional(givenTime("Started at this time or later.")),
	until: Type.Optional(givenTime("Started before this time.")),
};
export const AttemptCountQuery = Type.Object(attemptFilters, { additionalProperties: false });
export const AttemptQuery = Type.Object(
	{ ...attemptFilters, limit: Limit, cursor: Cursor },
	{ additionalProperties: false },
);

export interface GivenFilter {
	readonly webhook_id?: string;
	readonly type?: string;
	readonly status?: NonNullable<AttemptFilter["status"]>;
	readonly status_code?: readonly string[];
	readonly event_id?: string;
	readonly since?: string;
	readonly until?: string;
}

/** @param given filters that passed their schema */
export function attemptFilter(given: GivenFilter): AttemptFilter {
	const { webhook_id, type, status, status_code, event_id, since, until } = given;
	const maxScanned = LOG_READS.attemptsScanned;
	return {
		...(webhook_id !== undefined && { webhookId: webhook_id }),
		...(type !== undefined && { type }),
		...(status !== undefined && { status }),
		...(status_code !== undefined && { response: { codes: status_code.map(codeRange), maxScanned } }),
		...(event_id !== undefined && { eventId: event_id }),
		...timeRange(since, until),
	};
}

/** @param text a status code, a class such as `5xx`, or `none` */
function codeRange(text: string): CodeRange {
	if (text === "none") return { from: 0, to: 0 };
	return { from: Number(text.replace("xx", "00")), to: Number(text.replace("xx", "99")) };
}

/** Bytes that are not UTF-8 become U+FFFD, and a byte order mark stays. */
const text = new TextDecoder("utf-8", { ignoreBOM: true });

export function presentAttempt(attempt: port.Attempt): Static<typeof Attempt> {
	const { sent, eventType, eventId } = attempt;
	return {
		...presentAttemptSummary(attempt),
		request_headers: sent ? requestHeaders({ ...sent, eventType, eventId }) : {},
		request_body: text.decode(attempt.requestBody),
		response_body: text.decode(attempt.responseBody),
		response_truncated: attempt.responseTruncated,
	};
}

export function presentAttemptSummary(attempt: port.AttemptSummary): Static<typeof AttemptSummary> {
	return {
		id: attempt.id,
		webhook_id: attempt.webhookId,
		event_id: attempt.eventId,
		event_type: attempt.eventType as EventType,
		attempt: attempt.attempt,
		replay: attempt.replay,
		method: "POST",
		url: attempt.url,
		status_code: attempt.statusCode,
		error_code: attempt.errorCode,
		error: attempt.error,
		response_ms: attempt.responseMs,
		status: attempt.status,
		next_retry_at: formatTimeOrNull(attempt.nextRetryAt),
		started_at: formatTime(attempt.startedAt),
	};
}
