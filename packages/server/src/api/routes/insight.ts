import { isId } from "../../base/ids.ts";
import type { WebhookView } from "../../registry/webhooks.ts";
import { notFound } from "../http/problem.ts";
import { PAGE_LIMIT } from "../http/query.ts";
import type { ApiParts } from "../parts.ts";
import { defineRoute, type Route } from "../route.ts";
import { Limit, Stats, StatsRange, WaitingList, WebhookHealthList } from "../schemas/index.ts";
import { presentHealth, presentStats, presentWaiting, statsSpan } from "../schemas/insight.ts";
import { Type } from "../schemas/type.ts";

const StatsQuery = Type.Object(
	{
		range: Type.Optional(StatsRange),
		webhook_id: Type.Optional(Type.String({ description: "Only this webhook's, even if it was deleted." })),
	},
	{ additionalProperties: false },
);
const WaitingQuery = Type.Object(
	{ webhook_id: Type.Optional(Type.String({ description: "Only this webhook's." })), limit: Limit },
	{ additionalProperties: false },
);

/** What users look at to see how their webhooks are doing. */
export function insightRoutes({ storage, webhooks, clock }: Pick<ApiParts, "storage" | "webhooks" | "clock">): Route[] {
	const tag = "Insight";
	const project = "/v1/projects/{project_id}";

	async function everyWebhook(projectId: string): Promise<WebhookView[]> {
		const views: WebhookView[] = [];
		for (;;) {
			const last = views.at(-1)?.webhook.id;
			const page = { limit: PAGE_LIMIT.max, ...(last !== undefined && { after: last }) };
			const more = await webhooks.list(projectId, page);
			views.push(...more);
			if (more.length < PAGE_LIMIT.max) return views;
		}
	}

	return [
		defineRoute({
			method: "GET",
			path: `${project}/stats`,
			operationId: "getStats",
			tag,
			summary: "Count attempts over time",
			description: "How attempts ended and how long receivers took: over the last hour, day (the default) or month.",
			access: "developer",
			query: StatsQuery,
			heavy: true,
			rate: "reads",
			success: { status: 200, description: "The counts.", schema: Stats },
			async handler({ params: { project_id }, query: { range = "day", webhook_id } }) {
				if (webhook_id !== undefined && !isId("webhook", webhook_id)) throw notFound("webhook");
				const span = statsSpan(range, clock.now());
				const { since, until, stepMs } = span;
				const which = webhook_id === undefined ? {} : { webhookId: webhook_id };
				return presentStats(
					span,
					await storage.readStats({ projectId: project_id, query: { since, until, stepMs, ...which } }),
				);
			},
		}),
		defineRoute({
			method: "GET",
			path: `${project}/webhooks/health`,
			operationId: "listWebhookHealth",
			tag,
			summary: "Get the health of each webhook",
			access: "developer",
			heavy: true,
			rate: "reads",
			success: { status: 200, description: "The health of every webhook, oldest first.", schema: WebhookHealthList },
			async handler({ params: { project_id } }) {
				const { since, until, stepMs } = statsSpan("day", clock.now());
				const [views, healths] = await Promise.all([
					everyWebhook(project_id),
					storage.readHealth({ projectId: project_id }),
				]);
				const byId = new Map(healths.map((health) => [health.webhookId, health]));
				const data = views.map(async (view) => {
					const webhookId = view.webhook.id;
					const day = await storage.readStats({ projectId: project_id, query: { since, until, stepMs, webhookId } });
					return presentHealth(view, byId.get(webhookId), day);
				});
				return { data: await Promise.all(data) };
			},
		}),
		defineRoute({
			method: "GET",
			path: `${project}/waiting`,
			operationId: "listWaiting",
			tag,
			summary: "List pending retries and replays",
			description: "Soonest first.",
			access: "developer",
			query: WaitingQuery,
			heavy: true,
			rate: "reads",
			success: { status: 200, description: "The pending attempts.", schema: WaitingList },
			async handler({ params: { project_id }, query: { webhook_id = null, limit = PAGE_LIMIT.default } }) {
				if (webhook_id !== null && !isId("webhook", webhook_id)) throw notFound("webhook");
				const waiting = await storage.listWaitingRetries({ projectId: project_id, webhookId: webhook_id, limit });
				return { data: waiting.map(presentWaiting) };
			},
		}),
	];
}
