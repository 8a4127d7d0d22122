import { Type } from "typebox";
import type { AttemptFilter } from "../storage/port.ts";
import { AttemptStatusName, Cursor, EventTypeName, Limit } from "./schemas/index.ts";
import { timeRange } from "./time.ts";

const time = (description: string) => Type.Optional(Type.String({ format: "date-time", description }));

/** What attempts are chosen by; filters combine. */
export const attemptFilters = {
	webhook_id: Type.Optional(Type.String({ description: "Of this webhook, a deleted one as well." })),
	type: Type.Optional(EventTypeName),
	status: Type.Optional(AttemptStatusName),
	event_id: Type.Optional(Type.String({ description: "Of this event." })),
	since: time("Began at this time or later."),
	until: time("Began before this time."),
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
	readonly event_id?: string;
	readonly since?: string;
	readonly until?: string;
}

/** @param given its times have been found to be times */
export function attemptFilter({ webhook_id, type, status, event_id, since, until }: GivenFilter): AttemptFilter {
	return {
		...(webhook_id !== undefined && { webhookId: webhook_id }),
		...(type !== undefined && { type }),
		...(status !== undefined && { status }),
		...(event_id !== undefined && { eventId: event_id }),
		...timeRange(since, until),
	};
}
