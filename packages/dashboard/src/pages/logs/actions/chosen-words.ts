import type { DeliveryId } from "../../../api/deliveries.ts";
import { deliveryWords, type EventFacts } from "../../../lib/attempts/event-words.ts";
import { plural } from "../../../lib/text/numbers.ts";
import type { NameOf } from "../filters/filter-words.ts";

/** The row of the only chosen delivery; undefined if there are more. */
export function onlyRow<Row extends DeliveryId>(chosen: readonly DeliveryId[], rows: readonly Row[]): Row | undefined {
	const [one, ...others] = chosen;
	if (one === undefined || others.length > 0) return undefined;
	return rows.find(({ webhook_id, event_id }) => webhook_id === one.webhook_id && event_id === one.event_id);
}

/** Chosen deliveries in a sentence: a single one by its event and webhook, several by their number. */
export function chosenWords(
	chosen: readonly DeliveryId[],
	rows: readonly (DeliveryId & EventFacts)[],
	nameOf: NameOf,
): string {
	const row = onlyRow(chosen, rows);
	return row === undefined ? plural(chosen.length, "delivery") : deliveryWords(row, nameOf(row.webhook_id));
}
