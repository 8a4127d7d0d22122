import { CURRENCIES, eventTypeEntry } from "@posthorn/protocol";
import { REQUESTS, RESPONSES } from "../../../base/budgets.ts";
import { CURRENCY_DETAIL } from "../../../base/schemas.ts";
import {
	DELIVERABLE_KINDS,
	type FactResult,
	type OrderInput,
	OUTCOMES,
	type PreparedOrder,
} from "../../../store/index.ts";
import { JsonList } from "../../http/json-body.ts";
import { invalid, Problem } from "../../http/problem.ts";
import { isObject } from "../../http/validate.ts";
import type { ApiParts, Route } from "../../route.ts";
import { component, optional, orNull, request, strictObject, Time, Type, text } from "../../schema.ts";
import {
	amountCents,
	email,
	Fact,
	fact,
	factId,
	factResponse,
	formFaults,
	items,
	itemsForm,
	presentFact,
	readReport,
	refusedFact,
} from "./facts.ts";
import { PublishedEvent } from "./publish.ts";

const MAX_ORDERS = REQUESTS.batchEvents;

const orderFields = {
	order_id: factId("order", "ord_10482"),
	customer_email: email,
	amount_cents: amountCents(0, "The amount paid, in minor currency units."),
	currency: Type.Enum([...CURRENCIES], {
		description: "Three capital letters (ISO 4217).",
		errorMessage: CURRENCY_DETAIL,
		examples: ["EUR"],
	}),
	items,
	basket_id: Type.Optional(factId("bought basket", "bsk_55310")),
};

const NewOrder = request("NewOrder", {
	examples: [{ ...eventTypeEntry("purchase.completed").sample, basket_id: "bsk_55310" }],
})(orderFields);

/** The form that the API checks; the store checks the items. */
const OrderForm = strictObject({ ...orderFields, items: itemsForm });

const NewOrders = request("NewOrders")({
	orders: Type.Array(NewOrder, {
		minItems: 1,
		maxItems: MAX_ORDERS,
		description:
			"Each is recorded or refused separately: an invalid order gets the outcome `invalid`, and the others are recorded.",
	}),
});

const NewRefund = request("NewRefund", { examples: [{ refund_id: "ref_2071", amount_cents: 499 }] })({
	refund_id: factId("refund", "ref_2071"),
	amount_cents: amountCents(1, "The amount refunded, in minor currency units."),
});

const NewChargeback = request("NewChargeback", {
	examples: [{ chargeback_id: "cbk_914", amount_cents: 2997, reason: "fraudulent" }],
})({
	chargeback_id: factId("dispute", "cbk_914"),
	amount_cents: amountCents(0, "The disputed amount; it may exceed the order's."),
	reason: Type.Optional(Type.String({ maxLength: 1_000, ...text, description: "The payment processor's reason." })),
});

const DeliverableOutcome = request("DeliverableOutcome", {
	examples: [{ kind: "game_command", outcome: "completed", detail: "Rank granted on survival-1" }],
})({
	kind: Type.Enum([...DELIVERABLE_KINDS], { description: "What kind of thing it is." }),
	outcome: Type.Enum([...OUTCOMES], { description: "The final outcome. `dead_lettered`: given up after retries." }),
	detail: Type.Optional(Type.String({ maxLength: 1_000, ...text, description: "Details of the result." })),
});

const OrderResults = component("OrderResults")({
	results: Type.Array(
		Type.Object({
			order_id: orNull(Type.String(), "Null if the order had none."),
			outcome: Type.Enum(["recorded", "repeated", "conflict", "invalid", "too_large"], {
				description:
					"`repeated`: already recorded with the same content. `conflict`: already recorded with different content. The last three recorded nothing.",
			}),
			...optional({
				recorded_at: Time,
				events: Type.Array(PublishedEvent),
				errors: Type.Array(Type.Object({ pointer: Type.String(), detail: Type.String() }), {
					description: "What is wrong, with pointers into the batch.",
				}),
			}),
		}),
		{ description: "One result for each order, in the same order." },
	),
});

const NO_ORDER = "There is no such project or order. Report the order first.";

export function orderRoutes({ store, config }: Pick<ApiParts, "store" | "config">): Route[] {
	const path = "/v1/projects/{project_id}/orders";
	const one = `${path}/{order_id}`;
	const limit = config.maxEventBytes + REQUESTS.envelopeBytes;
	return [
		fact("POST", path, "recordOrder", {
			summary: "Report a paid order",
			description:
				"Publishes `customer.created` with the first order of an e-mail address in the project (compared without surrounding space, in compatibility form and lower case), then `purchase.completed`. Ends the order's basket, if one is given. Facts and events are committed together.",
			body: NewOrder,
			checksOwnBody: true,
			bodyLimit: limit,
			success: { status: 201, description: "The order is recorded.", schema: Fact },
			problems: { conflict: "The order was recorded before with different content." },
			async handler({ params: { projectId }, body }) {
				const result = await store.orders.record(projectId, readReport<OrderInput>(OrderForm, body));
				return factResponse("order", projectId, result);
			},
		}),
		fact("POST", `${path}/batch`, "recordOrders", {
			summary: "Report up to 1,000 orders",
			description:
				"For imports. Each order is recorded or refused separately, in order; the response is always 200. After a failure, send the same batch again: nothing is recorded twice.",
			body: NewOrders,
			checksOwnBody: true,
			bodyLimit: Math.max(config.maxBatchBytes, limit),
			list: { member: "orders", items: MAX_ORDERS, itemBytes: limit },
			resultBytes: RESPONSES.recordedBytes,
			success: { status: 200, description: "The outcome of each order.", schema: OrderResults },
			async handler({ params: { projectId }, body, pause }) {
				const batch = readBatch(body);
				const ids: (string | null)[] = [];
				const prepared: PreparedOrder[] = [];
				for (let i = 0; i < batch.length; i++) {
					const turn = pause(batch.size(i));
					if (turn) await turn;
					const { value } = batch.read(i);
					const { order_id } = (value ?? {}) as { order_id?: unknown };
					ids.push(typeof order_id === "string" ? order_id : null);
					const faults = formFaults(OrderForm, value);
					const malformed = { kind: "invalid", faults } as const;
					prepared.push(faults.length > 0 ? malformed : store.orders.prepare(projectId, value as OrderInput));
				}
				const results = await store.orders.recordAll(projectId, prepared);
				return { results: results.map((result, i) => presentOne(projectId, i, ids[i]!, result)) };
			},
		}),
		fact("POST", `${one}/refunds`, "recordRefund", {
			summary: "Report a refund",
			description:
				"Publishes `purchase.refunded`, with `partial` true while the order's refunds add up to less than its amount. Refund ids are unique within the project.",
			body: NewRefund,
			success: { status: 201, description: "The refund is recorded.", schema: Fact },
			problems: {
				"not-found": NO_ORDER,
				conflict: "The refund was recorded before with different content, or exceeds the order's remaining amount.",
			},
			async handler({ params: { projectId, orderId }, body }) {
				const result = await store.orders.refund(projectId, orderId, body);
				if (result.kind === "too_much") throw tooMuch(result);
				return factResponse("refund", projectId, result);
			},
		}),
		fact("POST", `${one}/chargebacks`, "recordChargeback", {
			summary: "Report a chargeback",
			description: "Publishes `chargeback.created`. Chargeback ids are unique within the project.",
			body: NewChargeback,
			success: { status: 201, description: "The chargeback is recorded.", schema: Fact },
			problems: {
				"not-found": NO_ORDER,
				conflict: "The chargeback was recorded before with different content.",
			},
			async handler({ params: { projectId, orderId }, body }) {
				return factResponse("chargeback", projectId, await store.orders.chargeback(projectId, orderId, body));
			},
		}),
		fact("POST", `${one}/deliverables/{deliverable_id}`, "recordDeliverable", {
			summary: "Report how a deliverable ended",
			description:
				"Publishes `delivery.success` or `delivery.failed`. The outcome is final: a different one later is a conflict. Deliverable ids are unique within the order.",
			body: DeliverableOutcome,
			success: { status: 201, description: "The outcome is recorded.", schema: Fact },
			problems: {
				"not-found": NO_ORDER,
				conflict: "The deliverable has already ended, with a different outcome or detail.",
			},
			async handler({ params: { projectId, orderId, deliverableId }, body }) {
				const result = await store.orders.deliverable(projectId, orderId, deliverableId, body);
				return factResponse("deliverable", projectId, result);
			},
		}),
	];
}

function readBatch(body: unknown): JsonList {
	if (!isObject(body)) throw invalid([{ pointer: "", detail: "must be an object" }]);
	const { orders, ...others } = body;
	if (Object.keys(others).length > 0)
		throw invalid([{ pointer: "", detail: "must have no members other than orders" }]);
	if (!(orders instanceof JsonList)) throw invalid([{ pointer: "/orders", detail: "must be an array" }]);
	if (orders.length === 0) throw invalid([{ pointer: "/orders", detail: `must have 1 to ${MAX_ORDERS} items` }]);
	return orders;
}

function presentOne(projectId: string, index: number, orderId: string | null, result: FactResult) {
	const named = { order_id: orderId };
	if (result.kind === "no_project" || result.kind === "busy") throw refusedFact("order", result);
	if (result.kind === "recorded" || result.kind === "repeated")
		return { ...named, outcome: result.kind, ...presentFact(projectId, result) };
	const problem = refusedFact("order", result);
	const errors = problem.errors ?? [{ pointer: "", detail: problem.message }];
	return {
		...named,
		outcome: result.kind,
		errors: errors.map(({ pointer, detail }) => ({ pointer: `/orders/${index}${pointer}`, detail })),
	};
}

function tooMuch({ leftCents, currency }: { readonly leftCents: number; readonly currency: string }): Problem {
	const why = `The refunds would exceed the order's amount: ${leftCents} minor units of ${currency} are left. Nothing was recorded.`;
	return new Problem("conflict", why, {
		errors: [{ pointer: "/amount_cents", detail: `must be at most ${leftCents}` }],
	});
}
