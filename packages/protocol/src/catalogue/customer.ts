import type { EventTypeEntry } from "./entry.ts";
import { customerEmail, identifier } from "./fields.ts";

export const customerEvents: readonly EventTypeEntry[] = [
	{
		type: "customer.created",
		description: "An e-mail address bought from the store for the first time.",
		future: false,
		strict: false,
		schema: {
			type: "object",
			properties: {
				customer_email: customerEmail,
				order_id: identifier("The customer's first order."),
			},
		},
		sample: { customer_email: "ada@example.com", order_id: "ord_10482" },
	},
];
