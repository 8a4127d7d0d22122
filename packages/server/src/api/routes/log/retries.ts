import { isId } from "../../../base/ids.ts";
import type { DeliveryKey, RetriedPosition, RetryNowResult } from "../../../storage/port.ts";
import { found, notFound, Problem } from "../../http/problem.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import { closed, Type } from "../../schema.ts";
import { ReplayAccepted, ReplayedCount } from "./deliveries.ts";
import { namedDeliveries } from "./log-filters.ts";

const route = routeIn("Delivery log");

/** Retries made early per transaction: of all that wait for a webhook, and of a selection, each looked up on its own. */
const STEP = { all: 500, selected: 50 };

const RetriesRequest = Type.Object(
	{
		deliveries: namedDeliveries("Retries these deliveries. Those without a pending attempt are skipped."),
	},
	{
		...closed,
		title: "RetriesRequest",
		examples: [
			{ deliveries: [{ webhook_id: "wh_01kbjh6mrxe3q8z1v2t4w5y6a7", event_id: "evt_01kbjh6mrxe3q8z1v2t4w5y6a7" }] },
		],
	},
);
const Retries = Type.Object(
	{
		count: Type.Integer({ minimum: 0, description: "How many deliveries are retried now." }),
		skipped: Type.Integer({ minimum: 0, description: "How many had no pending attempt." }),
	},
	{ title: "Retries" },
);

const TestCancelled = Type.Object({ cancelled: Type.Boolean() }, { title: "TestCancelled" });

const countQueued = (results: readonly RetryNowResult[]): number =>
	results.filter(({ kind }) => kind === "queued").length;

/** Users make the next attempts of deliveries early, for example after fixing a receiver, or cancel those of tests. */
export function retryRoutes({ storage, engine, clock }: Pick<ApiParts, "storage" | "engine" | "clock">): Route[] {
	const webhook = "/v1/projects/{project_id}/webhooks/{webhook_id}";

	/** Calls `taken` after each step with how many it made early. */
	async function retryAll(projectId: string, webhookId: string, taken: (count: number) => void): Promise<void> {
		const at = clock.now();
		let after: RetriedPosition | undefined;
		do {
			const step = await engine.wakeAfter(
				projectId,
				storage.retryWaiting({ projectId, webhookId, at, limit: STEP.all, after }),
				({ seqs }) => seqs.length > 0,
			);
			taken(step.seqs.length);
			after = step.next ?? undefined;
		} while (after !== undefined);
	}

	function retryStep(projectId: string, deliveries: readonly DeliveryKey[], at: number): Promise<RetryNowResult[]> {
		const call = storage.retryDeliveries({ projectId, deliveries, at });
		return engine.wakeAfter(projectId, call, (results) => countQueued(results) > 0);
	}

	async function retryThese(
		projectId: string,
		deliveries: readonly DeliveryKey[],
		taken: (count: number) => void,
	): Promise<void> {
		const at = clock.now();
		for (let from = 0; from < deliveries.length; from += STEP.selected) {
			taken(countQueued(await retryStep(projectId, deliveries.slice(from, from + STEP.selected), at)));
		}
	}

	return [
		route("POST", `${webhook}/deliveries/{event_id}/retry`, "retryDelivery", {
			summary: "Retry a delivery now",
			description:
				"Makes the delivery's next attempt immediately instead of at its scheduled time. The attempt keeps its number, and the series gets no extra attempts. While the webhook is paused, the attempt waits until it is resumed.",
			access: "developer",
			rate: "replays",
			success: { status: 202, description: "The attempt is due now.", schema: ReplayAccepted },
			problems: { conflict: "No attempt of this delivery is waiting." },
			async handler({ params: { projectId, webhookId, eventId }, audit }) {
				const of = { webhookId, eventId };
				const [result] = await retryStep(projectId, [of], clock.now());
				if (result!.kind === "nothing_waits") {
					const delivery = found("delivery", await storage.getDelivery({ projectId, ...of }));
					throw new Problem(
						"conflict",
						delivery.state === "attempting"
							? "This delivery's first attempt isn't a retry. It is made in its turn."
							: "This delivery has ended: no attempt is waiting. Replay it to send it again.",
					);
				}
				const target = { kind: "event", id: eventId, name: eventId };
				audit({ projectId, action: "delivery.retried", target, detail: { webhook_id: webhookId } });
				return { state: "attempting" as const, attempt: result!.attempt, replay: result!.replay };
			},
		}),
		route("POST", `${webhook}/deliveries/{event_id}/cancel`, "cancelTest", {
			summary: "Cancel a test event",
			description:
				"Ends the delivery of a test event that is waiting for an attempt: instead of the attempt, the log gets an entry with the error code `test_cancelled`. An attempt in flight is finished first, and no other follows. Only test events can be cancelled.",
			access: "developer",
			rate: "replays",
			success: { status: 202, description: "It won't be sent again.", schema: TestCancelled },
			problems: { conflict: "It isn't a test event, or no attempt of it is waiting." },
			async handler({ params: { projectId, webhookId, eventId }, audit }) {
				const of = { projectId, webhookId, eventId };
				const call = storage.cancelTest(of);
				const result = await engine.wakeAfter(projectId, call, (result) => result === "cancelled");
				if (result !== "cancelled") {
					found("delivery", await storage.getDelivery(of));
					throw new Problem(
						"conflict",
						result === "not_a_test"
							? "Only test events can be cancelled, because other events must not be lost. Pause the webhook to stop sending."
							: "This test event has ended: no attempt is waiting.",
					);
				}
				const target = { kind: "event", id: eventId, name: eventId };
				audit({ projectId, action: "test.cancelled", target, detail: { webhook_id: webhookId } });
				return { cancelled: true };
			},
		}),
		route("POST", `${webhook}/retry`, "retryWebhook", {
			summary: "Retry a webhook's pending deliveries now",
			description:
				"Makes the next attempt of every delivery to this webhook that waits for a retry due now. They are sent in the order in which they were due, within the webhook's limit on retries in flight.",
			access: "developer",
			rate: "bulkReplays",
			success: { status: 202, description: "How many deliveries are retried now.", schema: ReplayedCount },
			async handler({ params: { projectId, webhookId }, audit }) {
				const { id, description, url } = found("webhook", await storage.getWebhook({ projectId, webhookId }));
				let count = 0;
				try {
					await retryAll(projectId, webhookId, (more) => (count += more));
				} finally {
					const target = { kind: "webhook", id, name: description || url };
					if (count > 0) audit({ projectId, action: "deliveries.retried", target, detail: { count } });
				}
				return { count };
			},
		}),
		route("POST", "/v1/projects/{project_id}/retries", "retryMany", {
			summary: "Retry many deliveries now",
			description: "Makes the next attempt of each of these deliveries due now.",
			access: "developer",
			body: RetriesRequest,
			rate: "bulkReplays",
			success: { status: 202, description: "How many deliveries are retried now.", schema: Retries },
			async handler({ params: { projectId }, body: { deliveries }, audit }) {
				if (deliveries.some(({ webhook_id }) => !isId("webhook", webhook_id))) throw notFound("webhook");
				const these = deliveries.map(({ webhook_id, event_id }) => ({ webhookId: webhook_id, eventId: event_id }));
				let count = 0;
				try {
					await retryThese(projectId, these, (more) => (count += more));
				} finally {
					if (count > 0) audit({ projectId, action: "deliveries.retried", detail: { count } });
				}
				return { count, skipped: deliveries.length - count };
			},
		}),
	];
}
