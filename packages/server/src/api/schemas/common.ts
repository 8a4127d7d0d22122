import { EVENT_TYPES } from "@posthorn/protocol";
import { idPattern } from "../../base/ids.ts";
import { TEXT_PATTERN } from "../../base/text.ts";
import { NAME_LENGTH } from "../../registry/projects.ts";
import { CURSOR_PATTERN, PAGE_LIMIT } from "../http/query.ts";
import { TIME_PATTERN } from "../http/time.ts";
import { Type } from "./type.ts";

/** For requests: unknown properties are errors. */
export const closed = { additionalProperties: false } as const;

/** Text without control characters. */
export const text = {
	pattern: TEXT_PATTERN,
	errorMessage: "must not contain control characters, such as line breaks or tabs",
} as const;

export const Time = Type.String({
	format: "date-time",
	description: "ISO 8601 in UTC with milliseconds.",
	examples: ["2026-11-21T03:47:36.123Z"],
});
export const TimeOrNull = Type.Union([Time, Type.Null()]);

/** A time in a request. */
export const givenTime = (description: string) =>
	Type.String({
		format: "date-time",
		pattern: TIME_PATTERN,
		description: `${description} ISO 8601 with its zone, in the years 0000 to 9999 (UTC).`,
		errorMessage: "must be an ISO 8601 time with its zone, such as 2026-11-21T03:47:36.123Z",
	});

export const EventTypeName = Type.Enum(
	EVENT_TYPES.map(({ type }) => type),
	{ type: "string", title: "EventType", description: "The name of an event type.", examples: ["purchase.completed"] },
);

export const id = (prefix: string, what: string) =>
	Type.String({
		pattern: idPattern(prefix),
		description: `The ${what}'s identifier.`,
		examples: [`${prefix}_01kbjh6mrxe3q8z1v2t4w5y6a7`],
	});

/** An identifier to search for. An unknown one finds nothing. */
export const soughtId = (description: string) => Type.String({ maxLength: 100, ...text, description });

export const Name = Type.String({
	minLength: NAME_LENGTH.min,
	maxLength: NAME_LENGTH.max,
	...text,
	description: "A display name, without control characters.",
	examples: ["My store"],
});

export const Backlog = Type.Object(
	{
		events: Type.Integer({ description: "How many events wait for their first attempt." }),
		oldest_at: Type.Union([Time, Type.Null()], { description: "When the oldest of them was published." }),
	},
	{ description: "The events that wait for their first attempt." },
);

export const NextCursor = Type.Union([Type.String(), Type.Null()], {
	description: "Pass it as `cursor` to get the next page; null on the last page.",
});

export const list = <T extends ReturnType<typeof Type.Object>>(item: T) =>
	Type.Object({ data: Type.Array(item), next_cursor: NextCursor });

export const Limit = Type.Optional(
	Type.Integer({
		minimum: PAGE_LIMIT.min,
		maximum: PAGE_LIMIT.max,
		default: PAGE_LIMIT.default,
		description: "Rows per page.",
	}),
);
/** @param from what returned the cursor */
export const cursor = (from: string) =>
	Type.String({
		maxLength: 200,
		pattern: CURSOR_PATTERN,
		description: `The \`next_cursor\` from ${from}, unchanged; anything else is refused.`,
		errorMessage: `must be the next_cursor from ${from}, unchanged`,
	});
export const Cursor = Type.Optional(cursor("the previous page"));
export const PageQuerySchema = Type.Object({ limit: Limit, cursor: Cursor }, closed);

export const ProblemSchema = Type.Object(
	{
		type: Type.String({ description: "A stable code, as a relative URI." }),
		title: Type.String(),
		status: Type.Integer(),
		detail: Type.String({ description: "What happened and what to do." }),
		last_seq: Type.Optional(Type.Integer({ description: "With `log-behind`: the last `seq` of the log." })),
		continue_after: Type.Optional(Type.Integer({ description: "With `log-behind`: pass it as `after` to continue." })),
		epoch: Type.Optional(Type.String({ description: "With `log-behind`: pass it along with `continue_after`." })),
		errors: Type.Optional(
			Type.Array(
				Type.Object({
					pointer: Type.String({
						description: "A JSON Pointer into the body (empty for the whole body), or `?name` for a query parameter.",
					}),
					detail: Type.String(),
				}),
			),
		),
	},
	{ title: "Problem", description: "RFC 9457." },
);
export const Health = Type.Object(
	{
		status: Type.Enum(["ok"], { type: "string" }),
		notice: Type.Optional(Type.String({ description: "What delays some deliveries without making the node unready." })),
	},
	{ title: "Health" },
);
