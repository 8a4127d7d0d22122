import { useQuery } from "@tanstack/react-query";
import { type EventMatch, eventQuery, referencedEventsQuery } from "../../../api/events.ts";
import type { EventType } from "../../../api/model.ts";
import { type LogsSearch, valuesOf } from "../search.ts";

/** An event that was published, whether or not it was delivered to anyone. */
export interface Published {
	readonly id: string;
	/** Its number in the project's log; negative for test events. */
	readonly seq: number;
	readonly type: EventType;
}

/** Whether a search names events: by their order, their customer or their id. */
export const namesEvents = ({ order_id, customer_email, event_id }: LogsSearch): boolean =>
	order_id !== undefined || customer_email !== undefined || event_id !== undefined;

/** The filters of a search that name events. */
export const onlyEvents = ({ order_id, customer_email, event_id }: LogsSearch): LogsSearch => ({
	...(order_id !== undefined && { order_id }),
	...(customer_email !== undefined && { customer_email }),
	...(event_id !== undefined && { event_id }),
});

/**
 * The published events that a search names: undefined until they are known, and if it names none or isn't `enabled`.
 * `matches` are those of an order or a customer, each with what matched.
 */
export function usePublished(
	projectId: string,
	search: LogsSearch,
	enabled = true,
): { readonly published: readonly Published[] | undefined; readonly matches: readonly EventMatch[] } {
	const order_id = valuesOf(search, "order_id");
	const customer_email = valuesOf(search, "customer_email");
	const isReferenced = order_id.length + customer_email.length > 0;
	const { data: referenced } = useQuery({
		...referencedEventsQuery(projectId, { order_id, customer_email }),
		enabled: enabled && isReferenced,
	});
	const { data: event } = useQuery({
		...eventQuery(projectId, search.event_id ?? ""),
		enabled: enabled && !isReferenced && search.event_id !== undefined,
	});
	if (isReferenced) return { published: referenced?.data, matches: referenced?.data ?? [] };
	return { published: event === undefined ? undefined : event === null ? [] : [event], matches: [] };
}
