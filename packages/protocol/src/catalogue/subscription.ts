import type { EventTypeEntry, JsonSchema } from "./entry.ts";
import { customerEmail, identifier } from "./fields.ts";

const schema: JsonSchema = {
	type: "object",
	properties: {
		subscription_id: identifier("The subscription's identifier."),
		customer_email: customerEmail,
		plan: { type: "string", description: "The plan." },
	},
};

const sample = { subscription_id: "sub_3108", customer_email: "ada@example.com", plan: "vip_monthly" };

export const subscriptionEvents: readonly EventTypeEntry[] = [
	{
		type: "subscription.created",
		description: "A recurring subscription started.",
		future: true,
		strict: false,
		schema,
		sample,
	},
	{
		type: "subscription.canceled",
		description: "A subscription was canceled.",
		future: true,
		strict: false,
		schema,
		sample,
	},
];
