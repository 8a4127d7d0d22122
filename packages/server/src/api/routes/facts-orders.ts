import { REQUESTS } from "../../base/budgets.ts";
import type { FactResult, OrderInput, PreparedOrder } from "../../store/index.ts";
import { LOG_PROBLEMS } from "../come-again.ts";
import { answerFact, formFaults, presentFact, readReport, refusedFact } from "../fact-report.ts";
import { JsonList } from "../json-body.ts";
import type { ApiParts } from "../parts.ts";
import { invalid } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { Fact, MAX_ORDERS, NewOrder, NewOrders, OrderForm, OrderResults } from "../schemas/index.ts";

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
			summary: "Report an order that is paid",
			description:
				"Makes `customer.created` with the first order of an e-mail address in the project (compared without surrounding space, in compatibility form and lower case), then `purchase.completed`. Ends the basket that is named. Facts and events are committed together.",
			access: "project",
			body: NewOrder,
			checksOwnBody: true,
			bodyLimit: limit,
			success: { status: 201, description: "The order is recorded.", schema: Fact },
			problems: { ...LOG_PROBLEMS, conflict: "The order was recorded before with other content." },
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
				"For imports. Each order is recorded, or refused, by itself and in its order; the answer is 200 whatever became of them. Send the same batch again after a failure: what was recorded is not recorded twice.",
			access: "project",
			body: NewOrders,
			checksOwnBody: true,
			bodyLimit: Math.max(config.maxBatchBytes, limit),
			list: { member: "orders", items: MAX_ORDERS, itemBytes: limit },
			success: { status: 200, description: "What became of each order.", schema: OrderResults },
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
	if (Object.keys(others).length > 0) throw invalid([{ pointer: "", detail: "must have no members but orders" }]);
	if (!(orders instanceof JsonList)) throw invalid([{ pointer: "/orders", detail: "must be an array" }]);
	if (orders.length === 0) throw invalid([{ pointer: "/orders", detail: `must have 1 to ${MAX_ORDERS} items` }]);
	return orders;
}

function presentOne(projectId: string, index: number, orderId: string | null, result: FactResult) {
	const place = { order_id: orderId };
	if (result.kind === "no_project" || result.kind === "busy") throw refusedFact("order", result);
	if (result.kind === "recorded" || result.kind === "repeated")
		return { ...place, outcome: result.kind, ...presentFact(projectId, result) };
	const problem = refusedFact("order", result);
	const errors = problem.errors ?? [{ pointer: "", detail: problem.message }];
	return {
		...place,
		outcome: result.kind,
		errors: errors.map(({ pointer, detail }) => ({ pointer: `/orders/${index}${pointer}`, detail })),
	};
}
