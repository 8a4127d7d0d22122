import type { Static } from "typebox";
import { LOG_PROBLEMS } from "../come-again.ts";
import { answerFact } from "../fact-report.ts";
import type { ApiParts } from "../parts.ts";
import { Problem } from "../problem.ts";
import { defineRoute, type Route } from "../route.ts";
import { DeliverableOutcome, Fact, NewChargeback, NewRefund } from "../schemas/index.ts";

const NO_ORDER = "There is no such project or order: report the order before what belongs to it.";

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
				"Makes `purchase.refunded`, with `partial` true while the order's refunds together stay below its amount. Refund ids are the project's.",
			access: "project",
			body: NewRefund,
			success: { status: 201, description: "The refund is recorded.", schema: Fact },
			problems: {
				...LOG_PROBLEMS,
				"not-found": NO_ORDER,
				conflict: "The refund was recorded before with other content, or exceeds what is left of the order's amount.",
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
			description: "Makes `chargeback.created`. Chargeback ids are the project's.",
			access: "project",
			body: NewChargeback,
			success: { status: 201, description: "The chargeback is recorded.", schema: Fact },
			problems: {
				...LOG_PROBLEMS,
				"not-found": NO_ORDER,
				conflict: "The chargeback was recorded before with other content.",
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
				"Makes `delivery.success` or `delivery.failed`. The outcome is final: another one later is a conflict. Deliverable ids are the order's.",
			access: "project",
			body: DeliverableOutcome,
			success: { status: 201, description: "The outcome is recorded.", schema: Fact },
			problems: {
				...LOG_PROBLEMS,
				"not-found": NO_ORDER,
				conflict: "The deliverable has ended before, with another outcome or detail.",
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
