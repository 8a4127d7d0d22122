import { CURRENCIES, eventTypeEntry } from "@posthorn/protocol";
import type { TSchema } from "typebox";
import { REQUESTS } from "../../base/budgets.ts";
import { CURRENCY_DETAIL } from "../../base/schemas.ts";
import { DELIVERABLE_KINDS, ID_LENGTH, OUTCOMES } from "../../store/index.ts";
import { closed, Time, text } from "./common.ts";
import { PublishedEvent } from "./events.ts";
import { Type } from "./type.ts";

/** The maximum number of orders in a batch. */
export const MAX_ORDERS = REQUESTS.batchEvents;

export const factId = (what: string, example: string) =>
	Type.String({
		minLength: 1,
		maxLength: ID_LENGTH,
		...text,
		not: { enum: [".", ".."] },
		description: `The ${what}'s identifier at the store platform: at most ${ID_LENGTH} characters, percent-encoded as in a URL.`,
		errorMessage: "must be text without control characters, other than . and ..",
		examples: [example],
	});
const email = Type.String({
	maxLength: 320,
	pattern: "^\\s*[^\\s@\\x00-\\x1f\\x7f-\\x9f]+@[^\\s@\\x00-\\x1f\\x7f-\\x9f]+\\s*$",
	description: "The buyer's e-mail address. Spaces around it are dropped.",
	errorMessage: "must be an e-mail address",
	examples: ["ada@example.com"],
});
const amountCents = (least: number, description: string) =>
	Type.Integer({ minimum: least, maximum: Number.MAX_SAFE_INTEGER, description });
const { schema, sample } = eventTypeEntry("purchase.completed");
/** Its elements are checked one by one up to the first that is wrong, since there may be very many. */
const itemsForm = Type.Array(Type.Unknown());
const items = Type.Array((schema as { properties: { items: { items: TSchema } } }).properties.items.items, {
	description:
		"What was ordered. Other properties may be added. Integers beyond 2^53 have to be strings, and nesting is limited to 32 levels.",
	examples: [sample.items],
});

const orderFields = {
	order_id: factId("order", "ord_10482"),
	customer_email: email,
	amount_cents: amountCents(0, "The amount paid, in minor currency units."),
	currency: Type.Enum([...CURRENCIES], {
		type: "string",
		description: "Three capital letters (ISO 4217).",
		errorMessage: CURRENCY_DETAIL,
		examples: ["EUR"],
	}),
	items,
	basket_id: Type.Optional(factId("basket that was bought", "bsk_55310")),
};
export const NewOrder = Type.Object(orderFields, {
	...closed,
	title: "NewOrder",
	examples: [{ ...eventTypeEntry("purchase.completed").sample, basket_id: "bsk_55310" }],
});
/** The form that the API checks; the store checks the items. */
export const OrderForm = Type.Object({ ...orderFields, items: itemsForm }, closed);
export const NewOrders = Type.Object(
	{
		orders: Type.Array(NewOrder, {
			minItems: 1,
			maxItems: MAX_ORDERS,
			description:
				"Each is recorded or refused separately: an invalid order gets the outcome `invalid`, and the others are recorded.",
		}),
	},
	{ ...closed, title: "NewOrders" },
);
export const NewRefund = Type.Object(
	{
		refund_id: factId("refund", "ref_2071"),
		amount_cents: amountCents(1, "The amount refunded, in minor currency units."),
	},
	{ ...closed, title: "NewRefund", examples: [{ refund_id: "ref_2071", amount_cents: 499 }] },
);
export const NewChargeback = Type.Object(
	{
		chargeback_id: factId("dispute", "cbk_914"),
		amount_cents: amountCents(0, "The disputed amount; it may exceed the order's."),
		reason: Type.Optional(Type.String({ maxLength: 1_000, ...text, description: "The payment processor's reason." })),
	},
	{
		...closed,
		title: "NewChargeback",
		examples: [{ chargeback_id: "cbk_914", amount_cents: 2997, reason: "fraudulent" }],
	},
);
export const DeliverableOutcome = Type.Object(
	{
		kind: Type.Enum([...DELIVERABLE_KINDS], { type: "string", description: "What kind of thing it is." }),
		outcome: Type.Enum([...OUTCOMES], {
			type: "string",
			description: "The final outcome. `dead_lettered`: given up after retries.",
		}),
		detail: Type.Optional(Type.String({ maxLength: 1_000, ...text, description: "Details of the result." })),
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
		plan: Type.String({ minLength: 1, maxLength: 200, ...text, description: "The plan." }),
	},
	{ ...closed, title: "NewSubscription", examples: [{ ...eventTypeEntry("subscription.created").sample }] },
);
const basketFields = { items, customer_email: Type.Optional(email) };
/** The form that the API checks; the store checks the items. */
export const BasketForm = Type.Object({ ...basketFields, items: itemsForm }, closed);
export const BasketContents = Type.Object(basketFields, {
	...closed,
	title: "BasketContents",
	examples: [{ customer_email: "grace@example.com", items: eventTypeEntry("basket.abandoned").sample.items }],
});

export const Fact = Type.Object(
	{
		recorded_at: Time,
		events: Type.Array(PublishedEvent, { description: "The events it created, in log order." }),
	},
	{ title: "Fact", description: "A recorded fact. A repeated report gets the same response." },
);
export const OrderResults = Type.Object(
	{
		results: Type.Array(
			Type.Object({
				order_id: Type.Union([Type.String(), Type.Null()], { description: "Null if the order had none." }),
				outcome: Type.Enum(["recorded", "repeated", "conflict", "invalid", "too_large"], {
					type: "string",
					description:
						"`repeated`: already recorded with the same content. `conflict`: already recorded with different content. The last three recorded nothing.",
				}),
				recorded_at: Type.Optional(Time),
				events: Type.Optional(Type.Array(PublishedEvent)),
				errors: Type.Optional(
					Type.Array(Type.Object({ pointer: Type.String(), detail: Type.String() }), {
						description: "What is wrong, with pointers into the batch.",
					}),
				),
			}),
			{ description: "One result for each order, in the same order." },
		),
	},
	{ title: "OrderResults" },
);
export const Basket = Type.Object(
	{
		basket_id: Type.String(),
		touched_at: Time,
		abandoned_at: Type.Union([Time, Type.Null()], {
			description: "When `basket.abandoned` fires unless the basket is touched before then; null if it is empty.",
		}),
	},
	{ title: "Basket" },
);
