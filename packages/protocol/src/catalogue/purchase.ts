import type { EventTypeEntry } from "./entry.ts";
import { amountCents, currency, customerEmail, identifier, items } from "./fields.ts";

export const purchaseEvents: readonly EventTypeEntry[] = [
	{
		type: "purchase.completed",
		description:
			"An order was paid and recorded. Fires after the payment was confirmed and before anything is delivered.",
		future: false,
		strict: true,
		schema: {
			type: "object",
			properties: {
				order_id: identifier("The order's identifier."),
				customer_email: customerEmail,
				amount_cents: amountCents("The amount paid, in minor currency units."),
				currency,
				items: items("The ordered items."),
			},
			required: ["order_id", "customer_email", "amount_cents", "currency", "items"],
		},
		sample: {
			order_id: "ord_10482",
			customer_email: "ada@example.com",
			amount_cents: 2997,
			currency: "EUR",
			items: [
				{ product_id: "prod_vip_30d", name: "VIP rank, 30 days", quantity: 1, unit_amount_cents: 1999 },
				{ product_id: "prod_crate_key", name: "Crate key", quantity: 2, unit_amount_cents: 499 },
			],
		},
	},
	{
		type: "purchase.refunded",
		description:
			"A refund was processed. `partial` distinguishes a partial refund from one that completes the whole amount.",
		future: false,
		strict: true,
		schema: {
			type: "object",
			properties: {
				order_id: identifier("The refunded order."),
				refund_id: identifier("The refund's identifier."),
				amount_cents: amountCents("The amount of this refund, in minor currency units."),
				currency,
				partial: {
					type: "boolean",
					description: "True while the order's refunds together stay below what was paid.",
				},
			},
			required: ["order_id", "partial"],
		},
		sample: { order_id: "ord_10482", refund_id: "ref_2071", amount_cents: 499, currency: "EUR", partial: true },
	},
];
