import { REQUESTS } from "../../base/budgets.ts";
import type { BasketInput } from "../../store/index.ts";
import { LOG_PROBLEMS } from "../come-again.ts";
import { readReport, refusedFact } from "../fact-report.ts";
import type { ApiParts } from "../parts.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { Basket, BasketContents, BasketForm } from "../schemas/index.ts";
import { formatTime, formatTimeOrNull } from "../time.ts";

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
				"Every report is a touch, also with the same contents. `basket.abandoned` fires once when the basket has sat untouched for POSTHORN_BASKET_IDLE (24 hours) with at least one item; touched again, its clock starts anew. An order that names the basket ends it for good.",
			access: "project",
			body: BasketContents,
			checksOwnBody: true,
			bodyLimit: config.maxEventBytes + REQUESTS.envelopeBytes,
			success: { status: 200, description: "The basket, its clock started anew.", schema: Basket },
			problems: { ...LOG_PROBLEMS, conflict: "The basket was bought." },
			async handler({ params: { project_id, basket_id }, body }) {
				const input = readReport<BasketInput>(BasketForm, body);
				const result = await store.baskets.touch(project_id, basket_id, input);
				if (result.kind === "bought")
					throw new Problem(
						"conflict",
						"An order has bought this basket. What is put together next is a new basket: give it another id.",
					);
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
			description: "It is never abandoned then. The answer is the same whether it was there or not.",
			access: "project",
			success: { status: 204, description: "It is gone." },
			problems: LOG_PROBLEMS,
			async handler({ params: { project_id, basket_id } }) {
				const result = await store.baskets.remove(project_id, basket_id);
				if (result.kind === "no_project" || result.kind === "busy") throw refusedFact("basket", result);
			},
		}),
	];
}
