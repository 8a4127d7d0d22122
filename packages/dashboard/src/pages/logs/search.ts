import { isEventType } from "@posthorn/protocol";
import { ATTEMPT_STATUSES, isSpan, type LogFilter } from "../../api/attempts.ts";
import type { DeliveryFilter } from "../../api/deliveries.ts";

/** What the address bar says about the log: its filters, under the names of the API. */
export interface LogsSearch extends LogFilter {
	/** Deliveries by default; also attempts if `status` is set. */
	readonly view?: "attempts";
	/** Of deliveries, separated by commas: two or more webhooks or types, states, and status or error codes. */
	readonly webhooks?: string;
	readonly types?: string;
	readonly state?: string;
	readonly response?: string;
	readonly unhandled?: true;
}

export const STATES = ["delivered", "waiting", "failed"] as const;
type State = (typeof STATES)[number];

export const viewOf = ({ view, status }: LogsSearch): "deliveries" | "attempts" =>
	view === "attempts" || status !== undefined ? "attempts" : "deliveries";

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

const RESPONSE = /^([1-9](\d\d|xx)|[a-z_]{1,40})$/;
const MAX_VALUES = 20;

/** The valid values of a list, in their order; null if there are none. */
function listOf(value: unknown, fits: (one: string) => boolean): string[] | null {
	if (typeof value !== "string" || value.length > MAX_VALUES * MAX_LENGTH) return null;
	const values = [...new Set(value.split(","))].filter(fits).slice(0, MAX_VALUES);
	return values.length === 0 ? null : values;
}

const isState = (value: string): value is State => STATES.some((state) => state === value);

/** The filters of the list of deliveries. */
function listsOf(search: Record<string, unknown>): Partial<LogsSearch> {
	const lists = {
		webhooks: listOf(search.webhooks, (id) => ID.test(id)),
		types: listOf(search.types, isEventType),
		state: listOf(search.state, isState),
		response: listOf(search.response, (code) => RESPONSE.test(code)),
	};
	return {
		...(search.view === "attempts" ? { view: "attempts" } : {}),
		...Object.fromEntries(
			Object.entries(lists).flatMap(([name, list]) => (list === null ? [] : [[name, list.join(",")]])),
		),
		...(search.unhandled === true ? { unhandled: true } : {}),
	};
}

/** The filters that attempts have. */
export function attemptFilter(search: LogsSearch): LogFilter {
	const { view: _view, webhooks: _webhooks, types: _types, state: _state, response: _response, ...rest } = search;
	const { unhandled: _unhandled, ...filter } = rest;
	return filter;
}

/** The filters of the list of deliveries, as the API expects them. */
export function deliveryFilter(search: LogsSearch): DeliveryFilter {
	const { webhook_id, type, event_id, since, until, span } = search;
	const split = (list: string | undefined, one?: string) => list?.split(",") ?? (one === undefined ? [] : [one]);
	const responses = split(search.response);
	const lists = {
		webhook_id: split(search.webhooks, webhook_id),
		type: split(search.types, type),
		state: split(search.state),
		status_code: responses.filter((code) => /^\d/.test(code)),
		error: responses.filter((code) => !/^\d/.test(code)),
	};
	return {
		...Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0)),
		...(event_id === undefined ? {} : { event_id }),
		...(span === undefined ? { ...(since && { since }), ...(until && { until }) } : { span }),
		...(search.unhandled ? { unhandled: "true" } : {}),
	};
}

interface DeliveryFilterChange {
	readonly webhook_id?: readonly string[];
	readonly type?: readonly string[];
	readonly state?: readonly string[];
	/** Status codes and error codes. */
	readonly response?: readonly string[];
	readonly unhandled?: boolean;
}

/** The search with other values of some filters. One webhook or type keeps the name that the attempts' filters have. */
export function withDeliveryFilter(search: LogsSearch, change: DeliveryFilterChange): LogsSearch {
	const next: Record<string, unknown> = { ...search };
	const put = (one: string | null, many: string, values: readonly string[] | undefined) => {
		if (values === undefined) return;
		if (one !== null) delete next[one];
		delete next[many];
		if (values.length === 1 && one !== null) next[one] = values[0];
		else if (values.length > 0) next[many] = values.join(",");
	};
	put("webhook_id", "webhooks", change.webhook_id);
	put("type", "types", change.type);
	put(null, "state", change.state);
	put(null, "response", change.response);
	if (change.unhandled !== undefined) {
		delete next.unhandled;
		if (change.unhandled) next.unhandled = true;
	}
	return validateLogsSearch(next);
}

/** Keeps valid values and drops the others, so that a mistyped address still shows the log. */
export function validateLogsSearch(search: Record<string, unknown>): LogsSearch {
	const { webhook_id, type, event_id, span } = search;
	const status = isStatus(search.status);
	const [since, until] = [timeOf(search.since), timeOf(search.until)];
	return {
		...listsOf(search),
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
export const isFiltered = ({ view: _, ...filters }: LogsSearch) => Object.keys(filters).length > 0;
