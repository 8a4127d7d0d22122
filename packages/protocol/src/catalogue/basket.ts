import type { EventTypeEntry } from "./entry.ts";
import { customerEmail, identifier, items } from "./fields.ts";

/** When `basket.abandoned` fires, for a service whose operator has set this time, such as `2 hours`. */
export const basketAbandonedAfter = (idle: string): string =>
	`A basket with at least one item sat untouched for ${idle}.`;

export const basketEvents: readonly EventTypeEntry[] = [
	{
		type: "basket.abandoned",
		description: basketAbandonedAfter("24 hours, unless the operator has set another time"),
		future: false,
		strict: false,
		schema: {
			type: "object",
			properties: {
				basket_id: identifier("The basket's identifier."),
				customer_email: customerEmail,
				items: { ...items("The items in the basket."), minItems: 1 },
			},
		},
		sample: {
			basket_id: "bsk_55310",
			customer_email: "grace@example.com",
			items: [{ product_id: "prod_crate_key", name: "Crate key", quantity: 5, unit_amount_cents: 499 }],
		},
	},
];
