/** Bulk retries: of all that wait for one webhook, or of named deliveries. */
import { BULK_ACTIONS } from "../../../base/budgets.ts";
import { chunksOf } from "../../../base/collections.ts";
import type { DeliveryKey, RetryPosition, WebhookRef } from "../../../storage/port.ts";
import { found } from "../../http/problem.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import { component, count, request } from "../../schema.ts";
import { noteOf } from "../webhooks/webhooks.ts";
import { auditNaming, EXAMPLE_DELIVERY, knownKeys, namedDeliveries, ReplayedCount } from "./bulk.ts";

const route = routeIn("Delivery log", "developer");

const RetriesRequest = request("RetriesRequest", {
	examples: [{ deliveries: [EXAMPLE_DELIVERY] }],
})({
	deliveries: namedDeliveries("Retries these deliveries. Those without a pending attempt are skipped."),
});
const Retries = component("Retries")({
	count: count("How many deliveries are retried now."),
	skipped: count("How many had no pending attempt."),
});

export function retryRoutes({ storage, engine, clock }: ApiParts): Route[] {
	async function countWaiting(of: WebhookRef & { readonly at: number }): Promise<number> {
		let count = 0;
		let after: RetryPosition | undefined;
		do {
			const step = await storage.countRetries({ ...of, limit: BULK_ACTIONS.retriesCounted, after });
			count += step.count;
			after = step.next ?? undefined;
		} while (after !== undefined);
		return count;
	}

	return [
		route("POST", "/v1/projects/{project_id}/webhooks/{webhook_id}/retry", "retryWebhook", {
			summary: "Retry a webhook's pending deliveries now",
			description:
				"Makes the next attempt of every delivery to this webhook that waits for a retry due now. They are sent in the order in which they were due, within the webhook's limit on retries in flight.",
			rate: "bulkReplays",
			success: { status: 202, description: "How many deliveries are retried now.", schema: ReplayedCount },
			async handler({ params: { projectId, webhookId }, by, audit, authorizeAgain }) {
				const webhook = found("webhook", await storage.getWebhook({ projectId, webhookId }));
				const at = clock.now();
				// No more than wait now, so that this ends even if they fail again meanwhile.
				const waiting = await countWaiting({ projectId, webhookId, at });
				let count = 0;
				let after: RetryPosition | null | undefined;
				try {
					while (count < waiting && after !== null) {
						await authorizeAgain();
						const limit = Math.min(BULK_ACTIONS.retries, waiting - count);
						const retrying = storage.retryWaiting({ projectId, webhookId, at, limit, after, by });
						const step = await engine.wakeAfter(projectId, retrying, ({ seqs }) => seqs.length > 0);
						if (step.seqs.length === 0) await authorizeAgain();
						count += step.seqs.length;
						after = step.next;
					}
				} finally {
					if (count > 0) audit(noteOf("deliveries.retried", webhook, { count }));
				}
				return { count };
			},
		}),
		route("POST", "/v1/projects/{project_id}/retries", "retryMany", {
			summary: "Retry many deliveries now",
			description: "Makes the next attempt of each of these deliveries due now.",
			body: RetriesRequest,
			rate: "bulkReplays",
			success: { status: 202, description: "How many deliveries are retried now.", schema: Retries },
			async handler({ params: { projectId }, body, by, audit, authorizeAgain }) {
				const keys = knownKeys(body.deliveries);
				const note = await auditNaming(storage, projectId, "deliveries.retried", { deliveries: keys });
				const at = clock.now();
				const done: DeliveryKey[] = [];
				try {
					for (const these of chunksOf(keys, BULK_ACTIONS.namedRetries)) {
						await authorizeAgain();
						const retrying = storage.retryDeliveries({ projectId, deliveries: these, at, by });
						const isQueued = ({ kind }: Awaited<typeof retrying>[number]) => kind === "queued";
						const results = await engine.wakeAfter(projectId, retrying, (some) => some.some(isQueued));
						if (!results.some(isQueued)) await authorizeAgain();
						done.push(...these.filter((_, i) => isQueued(results[i]!)));
					}
				} finally {
					if (done.length > 0) audit(note(done));
				}
				return { count: done.length, skipped: keys.length - done.length };
			},
		}),
	];
}
