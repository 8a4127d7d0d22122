import { EVENT_TYPES } from "@posthorn/protocol";
import { NAME_LENGTH } from "../../registry/index.ts";
import { PAGE_LIMIT } from "../pagination.ts";
import { Type } from "./type.ts";

/** For what comes in: unknown members are faults. */
export const closed = { additionalProperties: false } as const;

export const Time = Type.String({
	format: "date-time",
	description: "ISO 8601 in UTC with milliseconds.",
	examples: ["2026-11-21T03:47:36.123Z"],
});
export const TimeOrNull = Type.Union([Time, Type.Null()]);

export const EventTypeName = Type.Enum(
	EVENT_TYPES.map(({ type }) => type),
	{ type: "string", title: "EventType", description: "The name of an event type.", examples: ["purchase.completed"] },
);

export const id = (prefix: string, what: string) =>
	Type.String({ description: `The ${what}'s identifier.`, examples: [`${prefix}_01kbjh6mrxe3q8z1v2t4w5y6a7`] });

export const Name = Type.String({
	minLength: NAME_LENGTH.min,
	maxLength: NAME_LENGTH.max,
	description: "For people; no control characters.",
	examples: ["My store"],
});

export const Backlog = Type.Object(
	{
		events: Type.Integer({ description: "How many events wait for their first attempt." }),
		oldest_at: Type.Union([Time, Type.Null()], { description: "When the oldest of them was published." }),
	},
	{ description: "What waits for its first attempt." },
);

export const NextCursor = Type.Union([Type.String(), Type.Null()], {
	description: "Pass it as `cursor` to get the next page; null when this was the last one.",
});

export const list = <T extends ReturnType<typeof Type.Object>>(item: T) =>
	Type.Object({ data: Type.Array(item), next_cursor: NextCursor });

export const Limit = Type.Optional(
	Type.Integer({
		minimum: PAGE_LIMIT.min,
		maximum: PAGE_LIMIT.max,
		default: PAGE_LIMIT.default,
		description: "Rows of a page.",
	}),
);
export const Cursor = Type.Optional(
	Type.String({ maxLength: 200, description: "The `next_cursor` of the page before." }),
);
export const PageQuerySchema = Type.Object({ limit: Limit, cursor: Cursor }, closed);
