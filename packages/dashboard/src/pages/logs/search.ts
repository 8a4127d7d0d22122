import { isEventType } from "@posthorn/protocol";
import { ATTEMPT_STATUSES, isSpan, type LogFilter } from "../../api/attempts.ts";

/** What the address bar says about the log: its filters, under the names of the API. */
export type LogsSearch = LogFilter;

const ID = /^[a-z]+_[\w-]+$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;
const MAX_LENGTH = 100;

const matches = (value: unknown, pattern: RegExp): value is string =>
	typeof value === "string" && value.length <= MAX_LENGTH && pattern.test(value);

/** ISO 8601 in UTC; null if `value` isn't a time. */
function timeOf(value: unknown): string | null {
	const at = matches(value, TIME) ? Date.parse(value) : Number.NaN;
	return Number.isNaN(at) ? null : new Date(at).toISOString();
}

const isStatus = (value: unknown) => ATTEMPT_STATUSES.find((status) => status === value);

/** Keeps valid values and drops the others, so that a mistyped address still shows the log. */
export function validateLogsSearch(search: Record<string, unknown>): LogsSearch {
	const { webhook_id, type, event_id, span } = search;
	const status = isStatus(search.status);
	const [since, until] = [timeOf(search.since), timeOf(search.until)];
	return {
		...(matches(webhook_id, ID) ? { webhook_id } : {}),
		...(typeof type === "string" && isEventType(type) ? { type } : {}),
		...(status === undefined ? {} : { status }),
		...(matches(event_id, ID) ? { event_id } : {}),
		...(isSpan(span) ? { span } : { ...(since === null ? {} : { since }), ...(until === null ? {} : { until }) }),
	};
}

export type FilterName = "webhook_id" | "type" | "status" | "event_id" | "time";

/** The same search without one of its filters. */
export function without(search: LogsSearch, name: FilterName): LogsSearch {
	const { [name === "time" ? "span" : name]: _, ...rest } = search;
	if (name !== "time") return rest;
	const { since: _since, until: _until, ...others } = rest;
	return others;
}

/** Whether anything is filtered at all. */
export const isFiltered = (search: LogsSearch) => Object.keys(search).length > 0;
