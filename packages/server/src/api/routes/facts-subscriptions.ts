import type { Static } from "typebox";
import { LOG_PROBLEMS } from "../come-again.ts";
import { answerFact } from "../fact-report.ts";
import type { ApiParts } from "../parts.ts";
import { defineRoute, type Route } from "../route.ts";
import { Fact, NewSubscription } from "../schemas/index.ts";

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
			body: NewSubscription,
			success: { status: 201, description: "The subscription is recorded.", schema: Fact },
			problems: { ...LOG_PROBLEMS, conflict: "The subscription was recorded before with other content." },
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
			description: "Makes `subscription.canceled`, once.",
			access: "project",
			success: { status: 200, description: "The subscription is canceled.", schema: Fact },
			problems: LOG_PROBLEMS,
			async handler({ params: { project_id, subscription_id } }) {
				const result = await store.subscriptions.cancel(project_id, subscription_id);
				return answerFact("subscription", project_id, result);
			},
		}),
	];
}
