import { Type } from "typebox";
import { closed, EventTypeName, id, list, Time, TimeOrNull } from "./common.ts";
import { EventId } from "./events.ts";

export const AttemptStatusName = Type.Enum(["delivered", "retrying", "failed"], {
	type: "string",
	description: "`failed` is dead-lettered: no further attempt follows by itself.",
});
export const Attempt = Type.Object(
	{
		id: id("att", "attempt"),
		webhook_id: id("wh", "webhook"),
		event_id: EventId,
		event_type: EventTypeName,
		attempt: Type.Integer({ minimum: 1, description: "Its number in its series." }),
		replay: Type.Integer({ minimum: 0, description: "0 for the first series, then 1, 2 … for each replay." }),
		method: Type.Enum(["POST"], { type: "string" }),
		url: Type.String(),
		request_headers: Type.Record(Type.String(), Type.String(), {
			description: "The headers that were sent; empty when no request was made.",
		}),
		request_body: Type.String({ description: "The exact body that was sent." }),
		status_code: Type.Union([Type.Integer(), Type.Null()]),
		error_code: Type.Union([Type.String(), Type.Null()], { description: "A stable code for `error`." }),
		error: Type.Union([Type.String(), Type.Null()], { description: "What went wrong, for people." }),
		response_ms: Type.Integer(),
		response_body: Type.String({ description: "The first 1,024 bytes; what is not UTF-8 shows as U+FFFD." }),
		response_truncated: Type.Boolean(),
		status: AttemptStatusName,
		next_retry_at: TimeOrNull,
		started_at: Time,
	},
	{ title: "Attempt" },
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
