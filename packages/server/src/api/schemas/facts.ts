import { eventTypeEntry } from "@posthorn/protocol";
import { REQUESTS } from "../../base/budgets.ts";
import { DELIVERABLE_KINDS, ID_LENGTH, OUTCOMES } from "../../store/index.ts";
import { closed, Time } from "./common.ts";
import { PublishedEvent } from "./events.ts";
import { Type } from "./type.ts";

/** Orders of a batch. */
export const MAX_ORDERS = REQUESTS.batchEvents;

const factId = (what: string, example: string) =>
	Type.String({
		minLength: 1,
		maxLength: ID_LENGTH,
		description: `The ${what}'s identifier at the store platform.`,
		examples: [example],
	});
const email = Type.String({
	description: "The buyer's e-mail address. Space around it is dropped.",
	examples: ["ada@example.com"],
});
const amountCents = (least: number, description: string) =>
	Type.Integer({ minimum: least, maximum: Number.MAX_SAFE_INTEGER, description });
/** The elements are looked at one by one, to the first that is wrong: there may be very many. */
const items = Type.Array(Type.Unknown(), {
	description:
		"Objects; the catalogue (`GET /v1/event-types`) documents `product_id`, `name`, `quantity` and `unit_amount_cents`, and others may be added. Integers beyond 2^53 have to be strings.",
	examples: [eventTypeEntry("purchase.completed").sample.items],
});

export const NewOrder = Type.Object(
	{
		order_id: factId("order", "ord_10482"),
		customer_email: email,
		amount_cents: amountCents(0, "What was paid, in minor currency units."),
		currency: Type.String({ description: "Three capital letters (ISO 4217).", examples: ["EUR"] }),
		items,
		basket_id: Type.Optional(factId("basket that was bought", "bsk_55310")),
	},
	{
		...closed,
		title: "NewOrder",
		examples: [{ ...eventTypeEntry("purchase.completed").sample, basket_id: "bsk_55310" }],
	},
);
export const NewOrders = Type.Object(
	{ orders: Type.Array(NewOrder, { minItems: 1, maxItems: MAX_ORDERS }) },
	{ ...closed, title: "NewOrders" },
);
export const NewRefund = Type.Object(
	{ refund_id: factId("refund", "ref_2071"), amount_cents: amountCents(1, "What this refund pays back.") },
	{ ...closed, title: "NewRefund", examples: [{ refund_id: "ref_2071", amount_cents: 499 }] },
);
export const NewChargeback = Type.Object(
	{
		chargeback_id: factId("dispute", "cbk_914"),
		amount_cents: amountCents(0, "The disputed amount; it may exceed the order's."),
		reason: Type.Optional(Type.String({ maxLength: 1_000, description: "As the payment processor gave it." })),
	},
	{
		...closed,
		title: "NewChargeback",
		examples: [{ chargeback_id: "cbk_914", amount_cents: 2997, reason: "fraudulent" }],
	},
);
export const DeliverableOutcome = Type.Object(
	{
		kind: Type.Enum([...DELIVERABLE_KINDS], { type: "string", description: "What was to be delivered." }),
		outcome: Type.Enum([...OUTCOMES], {
			type: "string",
			description: "Final; `dead_lettered`: given up after retries.",
		}),
		detail: Type.Optional(Type.String({ maxLength: 1_000, description: "What there is to say about the result." })),
	},
	{
		...closed,
		title: "DeliverableOutcome",
		examples: [{ kind: "game_command", outcome: "completed", detail: "Rank granted on survival-1" }],
	},
);
export const NewSubscription = Type.Object(
	{
		subscription_id: factId("subscription", "sub_3108"),
		customer_email: email,
		plan: Type.String({ minLength: 1, maxLength: 200, description: "The plan that was subscribed to." }),
	},
	{ ...closed, title: "NewSubscription", examples: [{ ...eventTypeEntry("subscription.created").sample }] },
);
export const BasketContents = Type.Object(
	{ items, customer_email: Type.Optional(email) },
	{
		...closed,
		title: "BasketContents",
		examples: [{ customer_email: "grace@example.com", items: eventTypeEntry("basket.abandoned").sample.items }],
	},
);

export const Fact = Type.Object(
	{
		recorded_at: Time,
		events: Type.Array(PublishedEvent, { description: "What it made, in the order of the log." }),
	},
	{ title: "Fact", description: "The same answer for the same report, however often it comes." },
);
export const OrderResults = Type.Object(
	{
		results: Type.Array(
			Type.Object({
				order_id: Type.Union([Type.String(), Type.Null()], { description: "Null where the order named none." }),
				outcome: Type.Enum(["recorded", "repeated", "conflict", "invalid", "too_large"], {
					type: "string",
					description:
						"`repeated`: recorded before with the same content. `conflict`: before with other content. The last three wrote nothing.",
				}),
				recorded_at: Type.Optional(Time),
				events: Type.Optional(Type.Array(PublishedEvent)),
				errors: Type.Optional(
					Type.Array(Type.Object({ pointer: Type.String(), detail: Type.String() }), {
						description: "Where and why, relative to the batch.",
					}),
				),
			}),
			{ description: "One for each order, in their order." },
		),
	},
	{ title: "OrderResults" },
);
export const Basket = Type.Object(
	{
		basket_id: Type.String(),
		touched_at: Time,
		abandoned_at: Type.Union([Time, Type.Null()], {
			description: "When `basket.abandoned` fires unless it is touched before; null when it is empty.",
		}),
	},
	{ title: "Basket" },
);
