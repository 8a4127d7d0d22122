import { basketEvents } from "./catalogue/basket.ts";
import { chargebackEvents } from "./catalogue/chargeback.ts";
import { customerEvents } from "./catalogue/customer.ts";
import { deliveryEvents } from "./catalogue/delivery.ts";
import type { EventType, EventTypeEntry } from "./catalogue/entry.ts";
import { purchaseEvents } from "./catalogue/purchase.ts";
import { subscriptionEvents } from "./catalogue/subscription.ts";

/** Every event type that can be subscribed to and published, in the order of the specification's section 6. */
export const EVENT_TYPES: readonly EventTypeEntry[] = [
	...customerEvents,
	...purchaseEvents,
	...deliveryEvents,
	...basketEvents,
	...subscriptionEvents,
	...chargebackEvents,
];

const BY_TYPE: ReadonlyMap<string, EventTypeEntry> = new Map(EVENT_TYPES.map((entry) => [entry.type, entry]));

/** Whether `text` is, letter for letter, the name of an event type. */
export function isEventType(text: string): text is EventType {
	return BY_TYPE.has(text);
}

/** The catalogue's entry for `type`. Throws a RangeError for a name that is not in the catalogue. */
export function eventTypeEntry(type: EventType): EventTypeEntry {
	const entry = BY_TYPE.get(type);
	if (entry === undefined) {
		throw new RangeError(`"${type}" is not an event type. Check it with isEventType first.`);
	}
	return entry;
}
