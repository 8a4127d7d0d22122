import { LOG_READS } from "../base/budgets.ts";
import type { AttemptFilter, CodeRange } from "../storage/port.ts";
import { AttemptStatusName, Cursor, EventTypeName, givenTime, Limit, soughtId, statusCodes } from "./schemas/index.ts";
import { Type } from "./schemas/type.ts";
import { timeRange } from "./time.ts";

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
