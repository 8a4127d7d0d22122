import { shortId } from "../text/ids.ts";
import { inertText } from "../text/inert-text.ts";
import { isolated } from "../text/names.ts";

/** What names an event to people. */
export interface EventFacts {
	readonly event_type: string;
	readonly order_id?: string | null | undefined;
}

/** An event in a sentence: `purchase.completed (order 1005)`. */
export const eventWords = ({ event_type, order_id }: EventFacts) =>
	`${event_type}${order_id == null ? "" : ` (order ${isolated(inertText(order_id))})`}`;

/** A delivery in a sentence: `purchase.completed (order 1005) to Accounting`. */
export const deliveryWords = (event: EventFacts, webhook: string) => `${eventWords(event)} to ${isolated(webhook)}`;

/**
 * A row of a list, for the names of its buttons, which must differ from those of other rows: like {@link deliveryWords},
 * but without an order it has the event's id. The list of one webhook leaves its name out.
 */
export function rowWords({ event_id, ...event }: EventFacts & { readonly event_id: string }, webhook?: string): string {
	const what = event.order_id == null ? `${event.event_type} (${shortId(event_id)})` : eventWords(event);
	return webhook === undefined ? what : `${what} to ${isolated(webhook)}`;
}
