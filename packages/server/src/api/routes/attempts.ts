import { Type } from "typebox";
import { isId } from "../../base/ids.ts";
import type { AttemptFilter } from "../../storage/port.ts";
import { decodeCursor, encodeCursor, MAX_PAGE_BYTES, PAGE_LIMIT } from "../pagination.ts";
import type { ApiParts } from "../parts.ts";
import { presentAttempt } from "../present.ts";
import { notFound } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { Attempt, AttemptList, AttemptStatusName, Cursor, EventTypeName, Limit } from "../schemas/index.ts";
import { timeRange } from "../time.ts";

const time = (description: string) => Type.Optional(Type.String({ format: "date-time", description }));

const AttemptQuery = Type.Object(
	{
		webhook_id: Type.Optional(Type.String({ description: "Of this webhook, a deleted one as well." })),
		type: Type.Optional(EventTypeName),
		status: Type.Optional(AttemptStatusName),
		event_id: Type.Optional(Type.String({ description: "Of this event." })),
		since: time("Began at this time or later."),
		until: time("Began before this time."),
		limit: Limit,
		cursor: Cursor,
	},
	{ additionalProperties: false },
);

export function attemptRoutes({ storage }: Pick<ApiParts, "storage">): Route[] {
	const tag = "Delivery log";
	const path = "/v1/projects/{project_id}/attempts";
	return [
		defineRoute({
			method: "GET",
			path,
			operationId: "listAttempts",
			tag,
			summary: "Read the delivery log",
			description:
				"Newest first. Filters combine. A page holds 4 MiB of bodies at most, so that it may be shorter than `limit`: go by `next_cursor`.",
			access: "developer",
			query: AttemptQuery,
			success: { status: 200, description: "A page of attempts.", schema: AttemptList },
			async handler({ params, query }) {
				const { webhook_id, type, status, event_id, since, until, limit, cursor } = query;
				const filter: AttemptFilter = {
					...(webhook_id !== undefined && { webhookId: webhook_id }),
					...(type !== undefined && { type }),
					...(status !== undefined && { status }),
					...(event_id !== undefined && { eventId: event_id }),
					...timeRange(since, until),
				};
				const before = cursor === undefined ? {} : { before: decodeCursor(cursor, (text) => isId("attempt", text)) };
				const page = { limit: limit ?? PAGE_LIMIT.default, maxBytes: MAX_PAGE_BYTES, ...before };
				const { rows, more } = await storage.listAttempts(params.project_id, filter, page);
				const last = rows.at(-1);
				return { data: rows.map(presentAttempt), next_cursor: more && last ? encodeCursor(last.id) : null };
			},
		}),
		defineRoute({
			method: "GET",
			path: `${path}/{attempt_id}`,
			operationId: "getAttempt",
			tag,
			summary: "Get an attempt",
			access: "developer",
			success: { status: 200, description: "The attempt.", schema: Attempt },
			async handler({ params: { project_id, attempt_id } }) {
				const attempt = isId("attempt", attempt_id) ? await storage.getAttempt(project_id, attempt_id) : null;
				if (!attempt) throw notFound("attempt");
				return presentAttempt(attempt);
			},
		}),
	];
}
