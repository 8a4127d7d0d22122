import { type DeliveryId, deliveryKey } from "../../api/deliveries.ts";
import type { Hold } from "../../lib/text/hold.ts";

/** Whether a webhook still sends: `unknown` until its project's webhooks are loaded. */
export type SendState = "active" | Hold | "deleted" | "unknown";

/** Why a webhook that exists sends nothing; null if it does. */
export const holdIn = (state: SendState): Hold | null => (state === "paused" || state === "unsigned" ? state : null);

/** Why a delivery isn't sent again now, unless nothing is sent to its webhook: see `HOLDS`. */
export const REFUSALS = {
	viewer: "Only the project's developers and owners can send it again.",
	deleted: "It can't be sent again, because its webhook was deleted.",
	inProgress: "It's still being attempted. You can replay it once that's finished.",
} as const;

/** The deliveries of rows, each once. */
export const uniqueDeliveries = (rows: readonly DeliveryId[]): readonly DeliveryId[] => [
	...new Map(rows.map((row) => [deliveryKey(row), { webhook_id: row.webhook_id, event_id: row.event_id }])).values(),
];

/**
 * Which deliveries of the selected rows can be retried now, because they wait for a retry, and which others can be sent
 * again. Deleted webhooks get nothing, and those that are paused or lack a secret no retries.
 */
export function sendableOf<Row extends DeliveryId>(
	selected: readonly Row[],
	isWaiting: (row: Row) => boolean,
	stateOf: (webhookId: string) => SendState,
): { readonly retry: readonly DeliveryId[]; readonly replay: readonly DeliveryId[] } {
	const known = selected.filter(({ webhook_id }) => stateOf(webhook_id) !== "deleted");
	const waiting = uniqueDeliveries(known.filter(isWaiting));
	const keys = new Set(waiting.map(deliveryKey));
	return {
		retry: waiting.filter(({ webhook_id }) => holdIn(stateOf(webhook_id)) === null),
		replay: uniqueDeliveries(known).filter((delivery) => !keys.has(deliveryKey(delivery))),
	};
}
