import type { EventTypeEntry } from "./entry.ts";
import { amountCents, currency, identifier } from "./fields.ts";

export const chargebackEvents: readonly EventTypeEntry[] = [
	{
		type: "chargeback.created",
		description: "A payment processor raised a dispute about an order.",
		future: false,
		strict: false,
		schema: {
			type: "object",
			properties: {
				chargeback_id: identifier("The dispute's identifier."),
				order_id: identifier("The disputed order."),
				amount_cents: amountCents("The disputed amount, in minor currency units."),
				currency,
				reason: { type: "string", description: "The reason that the payment processor gave." },
			},
		},
		sample: {
			chargeback_id: "cbk_914",
			order_id: "ord_10482",
			amount_cents: 2997,
			currency: "EUR",
			reason: "fraudulent",
		},
	},
];
