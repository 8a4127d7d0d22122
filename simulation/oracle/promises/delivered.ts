import { MINUTE, type Shape } from "../../plan.ts";
import type { Check, Witness } from "../check.ts";
import { type Delivery, lastOf } from "../ledger.ts";
import { patienceOf } from "./waiting.ts";

export interface Delivered extends Check {
	/** Deliveries that must still be attempted or closed. */
	pending(): Iterable<Delivery>;
	/** Faults ended so long ago that the world should be at rest by now. @param calls people's calls without a response */
	late(afterMs: number, calls: number): void;
}

/**
 * Once faults have ended, each event reaches each webhook that was subscribed to it, or is dead-lettered: in the end
 * nothing is pending, and receivers have what the log calls delivered.
 */
export function delivered(witness: Witness): Delivered {
	function* pending(): Generator<Delivery> {
		for (const webhook of witness.ledger.webhooks.values()) {
			if (webhook.status === "paused" && !webhook.isDeleted) continue;
			for (const delivery of webhook.open.values()) if (!delivery.dropped) yield delivery;
		}
	}

	return {
		promise: "once faults end, each event reaches each subscribed webhook, or is dead-lettered",
		pending,
		late(afterMs, calls) {
			const [first, ...others] = pending();
			const after = `${afterMs / MINUTE} minutes after the last fault`;
			if (!first) {
				witness.broken({}, `${calls} calls have no response ${after}`);
				return;
			}
			const { webhook, event, next, series } = first;
			witness.broken(
				{ projectId: webhook.projectId, webhookId: webhook.id, eventId: event.id },
				`${others.length + 1} deliveries are pending ${after}, such as number ${event.seq} for attempt ${next} of series ${series}`,
			);
		},
		end() {
			for (const { id: webhookId, projectId, deliveries } of witness.ledger.webhooks.values())
				for (const delivery of deliveries.values()) {
					const last = lastOf(delivery);
					if (delivery.next !== null || last?.status !== "delivered") continue;
					const eventId = delivery.event.id;
					const sent = witness.wire
						.of(webhookId, eventId)
						.filter(({ signature }) => signature === last.sent?.signature);
					if (!sent.some(({ receivedAt }) => receivedAt !== null))
						witness.broken(
							{ projectId, webhookId, eventId },
							"the log calls it delivered, and its receiver hasn't got it",
						);
				}
		},
	};
}

/**
 * The maximum time until nothing is pending after faults end, milliseconds.
 *
 * @param pending the number of deliveries pending then. A node with few slots makes their attempts one after the other
 */
export function drainMsOf(shape: Shape, pending: number): number {
	const { retryDelaysMs, attemptTimeoutMs, sendsInFlight } = shape;
	const attempts = retryDelaysMs.length + 1;
	const delays = retryDelaysMs.reduce((sum, ms) => sum + ms, 0);
	const { hearingMs, turnMs } = patienceOf(shape);
	const queueMs = sendsInFlight === null ? 0 : (pending * attempts * attemptTimeoutMs) / sendsInFlight;
	return 2 * delays + attempts * (attemptTimeoutMs + hearingMs + turnMs) + queueMs + 30 * MINUTE;
}
