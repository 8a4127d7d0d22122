import { inertText } from "../text/json-text-inert.ts";
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
