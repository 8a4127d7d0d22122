import { LOG_READS } from "../base/budgets.ts";
import type { AttemptFilter, CodeRange } from "../storage/port.ts";
import { AttemptStatusName, Cursor, EventTypeName, Limit, statusCodes } from "./schemas/index.ts";
import { Type } from "./schemas/type.ts";
import { timeRange } from "./time.ts";

const time = (description: string) => Type.Optional(Type.String({ format: "date-time", description }));

/** What attempts are chosen by; filters combine. */
export const attemptFilters = {
	webhook_id: Type.Optional(Type.String({ description: "Of this webhook, a deleted one as well." })),
	type: Type.Optional(EventTypeName),
	status: Type.Optional(AttemptStatusName),
	status_code: Type.Optional(statusCodes("Several are repeated, or separated by commas.")),
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
	readonly status_code?: readonly string[];
	readonly event_id?: string;
	readonly since?: string;
	readonly until?: string;
}

/** @param given its times have been found to be times, and its status codes to be such */
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
