import type { Static } from "typebox";
import { REQUESTS } from "../../base/budgets.ts";
import type { BasketInput, FactResult, OrderInput, PreparedOrder } from "../../store/index.ts";
import { JsonList } from "../http/json-body.ts";
import { invalid, LOG_PROBLEMS, Problem } from "../http/problem.ts";
import { formatTime, formatTimeOrNull } from "../http/time.ts";
import type { ApiParts } from "../parts.ts";
import { defineRoute, type Route } from "../route.ts";
import {
	Basket,
	BasketContents,
	BasketForm,
	DeliverableOutcome,
	Fact,
	MAX_ORDERS,
	NewChargeback,
	NewOrder,
	NewOrders,
	NewRefund,
	NewSubscription,
	OrderForm,
	OrderResults,
} from "../schemas/index.ts";
import { answerFact, formFaults, presentFact, readReport, refusedFact } from "./fact-report.ts";

export function orderFactRoutes({ store, config }: Pick<ApiParts, "store" | "config">): Route[] {
	const tag = "Store facts";
	const path = "/v1/projects/{project_id}/orders";
	const limit = config.maxEventBytes + REQUESTS.envelopeBytes;
	return [
		defineRoute({
			method: "POST",
			path,
			operationId: "recordOrder",
			tag,
			summary: "Report a paid order",
			description:
				"Publishes `customer.created` with the first order of an e-mail address in the project (compared without surrounding space, in compatibility form and lower case), then `purchase.completed`. Ends the order's basket, if one is given. Facts and events are committed together.",
			access: "project",
			scope: "publish",
			rate: "facts",
			body: NewOrder,
			checksOwnBody: true,
			bodyLimit: limit,
			success: { status: 201, description: "The order is recorded.", schema: Fact },
			problems: { ...LOG_PROBLEMS, conflict: "The order was recorded before with different content." },
			async handler({ params: { project_id }, body }) {
				const result = await store.orders.record(project_id, readReport<OrderInput>(OrderForm, body));
				return answerFact("order", project_id, result);
			},
		}),
		defineRoute({
			method: "POST",
			path: `${path}/batch`,
			operationId: "recordOrders",
			tag,
			summary: "Report up to 1,000 orders",
			description:
				"For imports. Each order is recorded or refused separately, in order; the response is always 200. After a failure, send the same batch again: nothing is recorded twice.",
			access: "project",
			scope: "publish",
			rate: "facts",
			body: NewOrders,
			checksOwnBody: true,
			bodyLimit: Math.max(config.maxBatchBytes, limit),
			list: { member: "orders", items: MAX_ORDERS, itemBytes: limit },
			success: { status: 200, description: "The outcome of each order.", schema: OrderResults },
			problems: LOG_PROBLEMS,
			async handler({ params: { project_id }, body, pause }) {
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
					prepared.push(faults.length > 0 ? malformed : store.orders.prepare(project_id, value as OrderInput));
				}
				const results = await store.orders.recordAll(project_id, prepared);
				return { results: results.map((result, i) => presentOne(project_id, i, ids[i]!, result)) };
			},
		}),
	];
}

function readBatch(body: unknown): JsonList {
	if (typeof body !== "object" || body === null || Array.isArray(body))
		throw invalid([{ pointer: "", detail: "must be an object" }]);
	const { orders, ...others } = body as Record<string, unknown>;
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

const NO_ORDER = "There is no such project or order. Report the order first.";

export function factsOfOrdersRoutes({ store }: Pick<ApiParts, "store">): Route[] {
	const tag = "Store facts";
	const path = "/v1/projects/{project_id}/orders/{order_id}";
	return [
		defineRoute({
			method: "POST",
			path: `${path}/refunds`,
			operationId: "recordRefund",
			tag,
			summary: "Report a refund",
			description:
				"Publishes `purchase.refunded`, with `partial` true while the order's refunds add up to less than its amount. Refund ids are unique within the project.",
			access: "project",
			scope: "publish",
			rate: "facts",
			body: NewRefund,
			success: { status: 201, description: "The refund is recorded.", schema: Fact },
			problems: {
				...LOG_PROBLEMS,
				"not-found": NO_ORDER,
				conflict:
					"The refund was recorded before with different content, or exceeds what is left of the order's amount.",
			},
			async handler({ params: { project_id, order_id }, body }) {
				const result = await store.refunds.record(project_id, order_id, body as Static<typeof NewRefund>);
				if (result.kind === "too_much") throw tooMuch(result);
				return answerFact("refund", project_id, result);
			},
		}),
		defineRoute({
			method: "POST",
			path: `${path}/chargebacks`,
			operationId: "recordChargeback",
			tag,
			summary: "Report a chargeback",
			description: "Publishes `chargeback.created`. Chargeback ids are unique within the project.",
			access: "project",
			scope: "publish",
			rate: "facts",
			body: NewChargeback,
			success: { status: 201, description: "The chargeback is recorded.", schema: Fact },
			problems: {
				...LOG_PROBLEMS,
				"not-found": NO_ORDER,
				conflict: "The chargeback was recorded before with different content.",
			},
			async handler({ params: { project_id, order_id }, body }) {
				const result = await store.chargebacks.record(project_id, order_id, body as Static<typeof NewChargeback>);
				return answerFact("chargeback", project_id, result);
			},
		}),
		defineRoute({
			method: "POST",
			path: `${path}/deliverables/{deliverable_id}`,
			operationId: "recordDeliverable",
			tag,
			summary: "Report how a deliverable ended",
			description:
				"Publishes `delivery.success` or `delivery.failed`. The outcome is final: a different one later is a conflict. Deliverable ids are unique within the order.",
			access: "project",
			scope: "publish",
			rate: "facts",
			body: DeliverableOutcome,
			success: { status: 201, description: "The outcome is recorded.", schema: Fact },
			problems: {
				...LOG_PROBLEMS,
				"not-found": NO_ORDER,
				conflict: "The deliverable has already ended, with a different outcome or detail.",
			},
			async handler({ params: { project_id, order_id, deliverable_id }, body }) {
				const input = body as Static<typeof DeliverableOutcome>;
				const result = await store.deliverables.record(project_id, order_id, deliverable_id, input);
				return answerFact("deliverable", project_id, result);
			},
		}),
	];
}

function tooMuch({ leftCents, currency }: { readonly leftCents: number; readonly currency: string }): Problem {
	return new Problem(
		"conflict",
		`The refunds would exceed the order's amount: ${leftCents} minor units of ${currency} are left. Nothing was recorded.`,
		{ errors: [{ pointer: "/amount_cents", detail: `must be at most ${leftCents}` }] },
	);
}

export function basketRoutes({ store, config }: Pick<ApiParts, "store" | "config">): Route[] {
	const tag = "Store facts";
	const path = "/v1/projects/{project_id}/baskets/{basket_id}";
	return [
		defineRoute({
			method: "PUT",
			path,
			operationId: "touchBasket",
			tag,
			summary: "Report a basket's contents",
			description:
				"Every report counts as activity, even with the same contents. `basket.abandoned` is published once after POSTHORN_BASKET_IDLE (24 hours) without activity if the basket has items; another report restarts the timer. An order that names the basket ends it permanently.",
			access: "project",
			scope: "publish",
			rate: "facts",
			body: BasketContents,
			checksOwnBody: true,
			bodyLimit: config.maxEventBytes + REQUESTS.envelopeBytes,
			success: { status: 200, description: "The basket, with its timer restarted.", schema: Basket },
			problems: { ...LOG_PROBLEMS, conflict: "The basket was bought." },
			async handler({ params: { project_id, basket_id }, body }) {
				const input = readReport<BasketInput>(BasketForm, body);
				const result = await store.baskets.touch(project_id, basket_id, input);
				if (result.kind === "bought")
					throw new Problem("conflict", "This basket was bought by an order. Use another id for the next basket.");
				if (result.kind !== "touched") throw refusedFact("basket", result);
				const { at, dueAt } = result;
				return { basket_id, touched_at: formatTime(at), abandoned_at: formatTimeOrNull(dueAt) };
			},
		}),
		defineRoute({
			method: "DELETE",
			path,
			operationId: "removeBasket",
			tag,
			summary: "Report that a basket is gone",
			description: "It is never abandoned then. The response is the same if it didn't exist.",
			access: "project",
			scope: "publish",
			rate: "facts",
			success: { status: 204, description: "It was deleted." },
			problems: LOG_PROBLEMS,
			async handler({ params: { project_id, basket_id } }) {
				const result = await store.baskets.remove(project_id, basket_id);
				if (result.kind === "no_project" || result.kind === "busy") throw refusedFact("basket", result);
			},
		}),
	];
}

export function subscriptionRoutes({ store }: Pick<ApiParts, "store">): Route[] {
	const tag = "Store facts";
	const path = "/v1/projects/{project_id}/subscriptions";
	return [
		defineRoute({
			method: "POST",
			path,
			operationId: "recordSubscription",
			tag,
			summary: "Report a recurring subscription",
			description: "Makes `subscription.created`.",
			access: "project",
			scope: "publish",
			rate: "facts",
			body: NewSubscription,
			success: { status: 201, description: "The subscription is recorded.", schema: Fact },
			problems: { ...LOG_PROBLEMS, conflict: "The subscription was recorded before with different content." },
			async handler({ params: { project_id }, body }) {
				const result = await store.subscriptions.record(project_id, body as Static<typeof NewSubscription>);
				return answerFact("subscription", project_id, result);
			},
		}),
		defineRoute({
			method: "POST",
			path: `${path}/{subscription_id}/cancel`,
			operationId: "cancelSubscription",
			tag,
			summary: "Report that a subscription was canceled",
			description: "Publishes `subscription.canceled`, once.",
			access: "project",
			scope: "publish",
			rate: "facts",
			success: { status: 200, description: "The subscription is canceled.", schema: Fact },
			problems: LOG_PROBLEMS,
			async handler({ params: { project_id, subscription_id } }) {
				const result = await store.subscriptions.cancel(project_id, subscription_id);
				return answerFact("subscription", project_id, result);
			},
		}),
	];
}
