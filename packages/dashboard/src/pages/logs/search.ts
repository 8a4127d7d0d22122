import { isEventType, LOG_FILTERS } from "@posthorn/protocol";
import { type CommonFilter, isSpan, type LogFilter, type Moving, type Span } from "../../api/attempts.ts";
import type { DeliveryFilter } from "../../api/deliveries.ts";
import { ATTEMPT_STATUSES } from "../../lib/attempts/attempt-words.ts";

/**
 * What the address bar says about the log: its filters, under the names of the API. Several values of one filter are
 * separated by commas.
 */
export interface LogsSearch {
	/** Deliveries by default; also attempts if `status` is set. */
	readonly view?: "attempts";
	readonly webhook_id?: string;
	readonly type?: string;
	/** Of deliveries. */
	readonly state?: string;
	/** Of attempts. */
	readonly status?: string;
	/** Status codes and error codes. */
	readonly response?: string;
	readonly event_id?: string;
	readonly order_id?: string;
	readonly customer_email?: string;
	readonly since?: string;
	readonly until?: string;
	readonly span?: Span;
	readonly unhandled?: true;
	/** Leaves out test events, as the statistics do. */
	readonly test?: false;
	/** Shows the events with this text in their bodies or in responses instead. */
	readonly text?: string;
}

/** Filters that take several values. */
const LISTS = ["webhook_id", "type", "state", "status", "response", "order_id", "customer_email"] as const;
export type ListName = (typeof LISTS)[number];

export const STATES = ["delivered", "waiting", "failed"] as const;
type State = (typeof STATES)[number];

export type LogView = "deliveries" | "attempts" | "text";

export const viewOf = ({ view, status, text }: LogsSearch): LogView => {
	if (text !== undefined) return "text";
	return view === "attempts" || status !== undefined ? "attempts" : "deliveries";
};

const ID = /^[a-z]+_[\w-]+$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;
const RESPONSE = /^([1-9](\d\d|xx)|[a-z_]{1,40})$/;
const MAX_LENGTH = 100;
/** Characters of a list, twice as many as the API takes. */
const MAX_LIST_LENGTH = 2 * LOG_FILTERS.values * LOG_FILTERS.referenceLength;

const matches = (value: unknown, pattern: RegExp): value is string =>
	typeof value === "string" && value.length <= MAX_LENGTH && pattern.test(value);

const isReference = (value: string) => value.length <= LOG_FILTERS.referenceLength;

const FITS: Readonly<Record<ListName, (value: string) => boolean>> = {
	webhook_id: (value) => matches(value, ID),
	type: isEventType,
	state: (value) => STATES.some((state) => state === value),
	status: (value) => ATTEMPT_STATUSES.some((status) => status === value),
	response: (value) => RESPONSE.test(value),
	order_id: isReference,
	customer_email: isReference,
};

/** Whether bodies and responses can be searched for this. */
export const isSearchText = ({ length }: string): boolean =>
	length >= LOG_FILTERS.textLength.min && length <= LOG_FILTERS.textLength.max;

/** ISO 8601 in UTC; null if `value` isn't a time. */
function timeOf(value: unknown): string | null {
	const at = matches(value, TIME) ? Date.parse(value) : Number.NaN;
	return Number.isNaN(at) ? null : new Date(at).toISOString();
}

/** A value may contain a comma itself. */
const joined = (values: readonly string[]) =>
	values.map((value) => value.replaceAll("%", "%25").replaceAll(",", "%2C")).join(",");
const split = (list: string) => list.split(",").map((value) => value.replaceAll("%2C", ",").replaceAll("%25", "%"));

/** The values of a filter. */
export const valuesOf = (search: LogsSearch, name: ListName): readonly string[] => {
	const list = search[name];
	return list === undefined ? [] : split(list);
};

/** The filters whose values the API combines. */
const combinedBy = (search: LogsSearch) =>
	["webhook_id", "type", viewOf(search) === "attempts" ? "status" : "state"] as const;

const hasAllStates = (search: LogsSearch): boolean => valuesOf(search, "state").length === STATES.length;

/** The factor by which a filter multiplies the combinations. All states count as one. */
const factorOf = (search: LogsSearch, name: ListName): number =>
	name === "state" && hasAllStates(search) ? 1 : Math.max(1, valuesOf(search, name).length);

const valuesTaken = (name: ListName): number => (name === "webhook_id" ? LOG_FILTERS.webhooks : LOG_FILTERS.values);

/** How many values a filter may have, given those of the others. */
export function maxValues(search: LogsSearch, name: ListName): number {
	const combined = combinedBy(search);
	if (!combined.some((one) => one === name)) return valuesTaken(name);
	const others = combined.reduce((product, one) => (one === name ? product : product * factorOf(search, one)), 1);
	return Math.min(valuesTaken(name), Math.max(1, Math.floor(LOG_FILTERS.combinations / others)));
}

/** The filters to which no value can be added. */
export const fullFilters = (search: LogsSearch) =>
	combinedBy(search).filter(
		(name) => valuesOf(search, name).length >= maxValues(search, name) && !(name === "state" && hasAllStates(search)),
	);

/** Drops the last values of filters with too many combinations. Each keeps one, because none would select everything. */
function withinLimits(search: LogsSearch): LogsSearch {
	let fits = search;
	for (const name of combinedBy(search).toReversed()) {
		const max = maxValues(fits, name);
		if (factorOf(fits, name) > max) fits = { ...fits, [name]: joined(valuesOf(fits, name).slice(0, max)) };
	}
	return fits;
}

/** The search with other values of one filter. Other states end the search for what needs a decision. */
export function withValues(search: LogsSearch, name: ListName, values: readonly string[]): LogsSearch {
	const { [name]: _, unhandled, ...rest } = search;
	const kept = unhandled && name !== "state" ? { ...rest, unhandled } : rest;
	return values.length === 0 ? kept : { ...kept, [name]: joined(values) };
}

/** The search for only what needs a decision, or for all failed deliveries again. */
export function withUnhandled({ unhandled: _, ...rest }: LogsSearch, only: boolean): LogsSearch {
	return only ? { ...rest, state: "failed", unhandled: true } : rest;
}

/** The search with one more value of a filter. */
export const withValue = (search: LogsSearch, name: ListName, value: string): LogsSearch =>
	withValues(search, name, [...new Set([...valuesOf(search, name), value])]);

/** The filters that both views have. */
function commonFilter(search: LogsSearch): Moving<CommonFilter> {
	const { event_id, since, until, span } = search;
	const responses = valuesOf(search, "response");
	const lists = {
		webhook_id: valuesOf(search, "webhook_id"),
		type: valuesOf(search, "type"),
		status_code: responses.filter((code) => /^\d/.test(code)),
		error: responses.filter((code) => !/^\d/.test(code)),
		order_id: valuesOf(search, "order_id"),
		customer_email: valuesOf(search, "customer_email"),
	};
	return {
		...Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0)),
		...(event_id === undefined ? {} : { event_id }),
		...(span === undefined ? { ...(since && { since }), ...(until && { until }) } : { span }),
	};
}

/** The filters of the list of attempts, as the API expects them. */
export function attemptFilter(search: LogsSearch): LogFilter {
	const status = valuesOf(search, "status") as NonNullable<LogFilter["status"]>;
	return {
		...commonFilter(search),
		...(status.length === 0 ? {} : { status }),
		...(search.test === false ? { test: "false" } : {}),
	};
}

/** The status of the last attempt of a delivery in each state. */
const LAST_STATUS = { delivered: "delivered", waiting: "retrying", failed: "failed" } as const;

/** The states that are listed; all if there are none. Only failed deliveries need a decision. */
const statesOf = (search: LogsSearch): readonly State[] =>
	search.unhandled ? ["failed"] : (valuesOf(search, "state") as readonly State[]);

/** For actions on all listed deliveries: a filter of their last attempts. */
export function lastAttemptFilter(search: LogsSearch): LogFilter {
	const states = statesOf(search);
	const isAnyState = states.length === 0 || states.length === STATES.length;
	if (viewOf(search) !== "deliveries" || isAnyState) return attemptFilter(search);
	return { ...attemptFilter(search), status: states.map((state) => LAST_STATUS[state]) };
}

/** The filters of the list of deliveries, as the API expects them. */
export function deliveryFilter(search: LogsSearch): Moving<DeliveryFilter> {
	const state = statesOf(search);
	return {
		...commonFilter(search),
		...(state.length === 0 ? {} : { state }),
		...(search.unhandled ? { unhandled: "true" } : {}),
		...(search.test === false ? { test: "false" } : {}),
	};
}

/**
 * Keeps valid values that the view uses and drops the others, so that a mistyped or old address still shows the log. Those
 * that it doesn't use would count as filters, and could combine with the others to more than the API takes.
 */
export function validateLogsSearch(search: Record<string, unknown>): LogsSearch {
	const { event_id, span } = search;
	const lists = LISTS.flatMap((name): [string, string][] => {
		// The router reads an order id of digits as a number.
		const given = typeof search[name] === "number" ? String(search[name]) : search[name];
		if (typeof given !== "string" || given.length > MAX_LIST_LENGTH) return [];
		const values = [...new Set(split(given))].filter((value) => value !== "" && FITS[name](value));
		return values.length === 0 ? [] : [[name, joined(values.slice(0, valuesTaken(name)))]];
	});
	const text = typeof search.text === "number" ? String(search.text) : search.text;
	if (typeof text === "string" && isSearchText(text)) return { text };
	const [since, until] = [timeOf(search.since), timeOf(search.until)];
	const found: LogsSearch = {
		...(search.view === "attempts" ? { view: "attempts" } : {}),
		...Object.fromEntries(lists),
		...(search.unhandled === true ? { unhandled: true } : {}),
		...(search.test === false ? { test: false } : {}),
		...(matches(event_id, ID) ? { event_id } : {}),
		...(isSpan(span) ? { span } : { ...(since === null ? {} : { since }), ...(until === null ? {} : { until }) }),
	};
	return withinLimits(viewOf(found) === "attempts" ? withoutStates(found) : found);
}

const withoutStates = ({ state: _, unhandled: __, ...rest }: LogsSearch): LogsSearch => rest;

/** The same search without its time. */
export function withoutTime({ span: _span, since: _since, until: _until, ...rest }: LogsSearch): LogsSearch {
	return rest;
}

/** The filters that the other view has as well. */
export function sharedFilters(search: LogsSearch): LogsSearch {
	const { view: _view, status: _status, text: _text, ...shared } = withoutStates(search);
	return shared;
}

/** Whether anything is filtered at all. */
export const isFiltered = ({ view: _, ...filters }: LogsSearch) => Object.keys(filters).length > 0;

/** Whether one thing is filtered, and it isn't the time. */
export const hasOneFilter = ({ view: _, ...filters }: LogsSearch) =>
	Object.keys(filters).length === 1 && isFiltered(withoutTime(filters));
