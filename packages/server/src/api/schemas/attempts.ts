import { closed, EventTypeName, id, list, Time, TimeOrNull } from "./common.ts";
import { EventId } from "./events.ts";
import { Type } from "./type.ts";

export const AttemptStatusName = Type.Enum(["delivered", "retrying", "failed"], {
	type: "string",
	description: "`failed` is dead-lettered: no further attempt follows by itself.",
});
/** @param how to give several */
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
	attempt: Type.Integer({ minimum: 1, description: "Its number in its series." }),
	replay: Type.Integer({ minimum: 0, description: "0 for the first series, then 1, 2 … for each replay." }),
	method: Type.Enum(["POST"], { type: "string" }),
	url: Type.String(),
};
const answer = {
	status_code: Type.Union([Type.Integer(), Type.Null()]),
	error_code: Type.Union([Type.String(), Type.Null()], { description: "A stable code for `error`." }),
	error: Type.Union([Type.String(), Type.Null()], { description: "What went wrong, for people." }),
	response_ms: Type.Integer({
		description:
			"From the attempt's start until it was answered or given up. Waiting in vain for the rest of a response does not count, nor does waiting for a turn to connect.",
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
			description: "The headers that were sent; empty when nothing was sent, as where the connection was refused.",
		}),
		request_body: Type.String({ description: "The exact body that was sent, or would have been." }),
		...answer,
		response_body: Type.String({ description: "The first 1,024 bytes; what is not UTF-8 shows as U+FFFD." }),
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
		count: Type.Integer({ minimum: 0, description: "How many match; counted to 10,000." }),
		capped: Type.Boolean({
			description:
				"Whether counting stopped before the end: more than 10,000 match, or `status_code` was given and as many attempts were looked at as a call may.",
		}),
	},
	{ title: "AttemptCount" },
);
export const AttemptList = list(Attempt);
export const Delivery = Type.Object(
	{
		state: Type.Enum(["attempting", "delivered", "dead_lettered"], { type: "string" }),
		attempt: Type.Integer({ description: "The attempt that is due or under way, or the last one made." }),
		replay: Type.Integer(),
		next_retry_at: TimeOrNull,
		attempts: Type.Array(Attempt, {
			description: "Of all series, in the order in which they were made; the newest 200, and 4 MiB, at most.",
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
		since: Type.Optional(Type.String({ format: "date-time", description: "Attempts that began from then on." })),
		until: Type.Optional(Type.String({ format: "date-time", description: "Attempts that began before then." })),
	},
	{ ...closed, title: "ReplayRequest", examples: [{ status: "failed" }] },
);
export const ReplayedCount = Type.Object({ count: Type.Integer() }, { title: "ReplayedCount" });

const ReplayFilter = Type.Object(
	{
		webhook_id: Type.Optional(Type.String()),
		type: Type.Optional(EventTypeName),
		status: Type.Optional(AttemptStatusName),
		status_code: Type.Optional(statusCodes("Any of them matches.")),
		event_id: Type.Optional(Type.String()),
		since: Type.Optional(Type.String({ format: "date-time", description: "Attempts that began from then on." })),
		until: Type.Optional(Type.String({ format: "date-time", description: "Attempts that began before then." })),
	},
	{ ...closed, description: "As for the list of attempts. A delivery goes by its newest attempt." },
);
export const ReplaysRequest = Type.Object(
	{
		deliveries: Type.Optional(
			Type.Array(Type.Object({ webhook_id: Type.String(), event_id: Type.String() }, closed), {
				minItems: 1,
				maxItems: 200,
				description: "Either these …",
			}),
		),
		filter: Type.Optional(ReplayFilter),
		dry_run: Type.Optional(Type.Boolean({ description: "With `filter`: only counts." })),
		cursor: Type.Optional(
			Type.String({ maxLength: 200, description: "With `filter`: the `next_cursor` of the step before." }),
		),
		before: Type.Optional(
			Type.String({
				format: "date-time",
				description:
					"With `filter`: the `before` of the first step. Attempts that began later are left alone, so that this comes to an end.",
			}),
		),
	},
	{
		...closed,
		title: "ReplaysRequest",
		examples: [
			{ filter: { status: "failed", type: "purchase.completed" }, dry_run: true },
			{ deliveries: [{ webhook_id: "wh_01kbjh6mrxe3q8z1v2t4w5y6a7", event_id: "evt_01kbjh6mrxe3q8z1v2t4w5y6a7" }] },
		],
	},
);
export const Replays = Type.Object(
	{
		count: Type.Integer({ minimum: 0, description: "Deliveries that were begun again, or would be." }),
		skipped: Type.Optional(
			Type.Integer({ minimum: 0, description: "Of `deliveries`: those that are still attempting, or are gone." }),
		),
		next_cursor: Type.Optional(
			Type.Union([Type.String(), Type.Null()], {
				description:
					"Of `filter`: call again with it as `cursor`, even after a `count` of 0; null when all was looked at.",
			}),
		),
		before: Type.Optional(Time),
	},
	{ title: "Replays" },
);
