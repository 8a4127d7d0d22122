import { type ListName, type LogsSearch, withValues } from "../logs/search.ts";

/** A filter as the audit log keeps it: without e-mail addresses, and with only the first values of each list. */
export interface AuditedFilter {
	/** As logged; a shortened list ends with a value such as `3 more`. */
	readonly search: LogsSearch;
	/** How many customers it names. */
	readonly customers: number;
	/** Whether that is all of it, so that the log can show the same. */
	readonly isWhole: boolean;
}

const MORE = /^and (\d+ more)$/;
/** A value that stands for others. */
export const isMore = (value: string): boolean => /^\d+ more$/.test(value);

const textsOf = (value: unknown): string[] =>
	[value].flat().flatMap((text) => (typeof text === "string" ? [text.replace(MORE, "$1")] : []));

/** @returns null if there was none */
export function auditedFilterOf({ filter }: Readonly<Record<string, unknown>>): AuditedFilter | null {
	if (typeof filter !== "object" || filter === null) return null;
	const given = filter as Readonly<Record<string, unknown>>;
	const lists: Partial<Record<ListName, readonly string[]>> = {
		webhook_id: textsOf(given.webhook_id),
		type: textsOf(given.type),
		status: textsOf(given.status),
		response: [...textsOf(given.status_code), ...textsOf(given.error)],
		order_id: textsOf(given.order_id),
	};
	const single = Object.fromEntries(
		(["event_id", "since", "until"] as const).flatMap((name) => textsOf(given[name]).map((value) => [name, value])),
	);
	let search: LogsSearch = single;
	for (const [name, values] of Object.entries(lists)) search = withValues(search, name as ListName, values);
	const customers = typeof given.customer_emails === "number" ? given.customer_emails : 0;
	return { search, customers, isWhole: customers === 0 && !Object.values(lists).flat().some(isMore) };
}

/** The log's list of the deliveries that a filter selected. Those that were replayed may have another state by now. */
export const deliveriesSearch = ({ status: _, ...search }: LogsSearch, action: string): LogsSearch =>
	action === "deliveries.dismissed" ? { ...search, state: "failed" } : search;
