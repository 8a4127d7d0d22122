import type { Check, Witness } from "./check.ts";
import { lastOf } from "./ledger.ts";

/** In the end each event has reached each webhook that was subscribed to it, or is dead-lettered with its reason. */
export function delivered(witness: Witness): Check {
	return {
		promise: "each event reaches each subscribed webhook, or is dead-lettered",
		end() {
			for (const webhook of witness.ledger.webhooks.values()) {
				const { projectId, id: webhookId } = webhook;
				for (const delivery of webhook.deliveries.values()) {
					const { event, next, series, dropped } = delivery;
					const about = { projectId, webhookId, eventId: event.id };
					const mayWait = webhook.isDeleted ? dropped : webhook.status === "paused" || dropped;
					if (next !== null) {
						if (!mayWait)
							witness.broken(about, `number ${event.seq} still waits for attempt ${next} of series ${series}`);
						continue;
					}
					const last = lastOf(delivery);
					if (last?.status !== "delivered") continue;
					const reached = witness.wire.of(webhookId, event.id);
					const { status } = reached.findLast(({ signature }) => signature === last.sent?.signature) ?? {};
					if (!reached.some((one) => one.signature === last.sent?.signature && one.receivedAt !== null))
						witness.broken(about, `it is delivered, as the log says, and its receiver has not seen it (${status})`);
				}
			}
		},
	};
}
