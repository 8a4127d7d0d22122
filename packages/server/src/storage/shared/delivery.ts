import type { Attempt, AttemptStatus, Delivery } from "../port.ts";

/** How many of a delivery's attempts are shown: the newest. */
export const MAX_DELIVERY_ATTEMPTS = 200;

/** What a delivery is waiting for, or how it ended. */
export type Standing =
	/** Its next attempt is in a queue, or in flight from there. */
	| { readonly kind: "queued"; readonly attempt: number; readonly replay: number; readonly dueAt: number }
	/** Its first attempt is pending in the lane, or in flight. */
	| { readonly kind: "in_lane" }
	/** Nothing is pending; the newest attempt says how it ended. */
	| { readonly kind: "over"; readonly attempt: number; readonly replay: number; readonly status: AttemptStatus };

/** @param attempts in the order in which they were made */
export function deliveryOf(standing: Standing, attempts: readonly Attempt[]): Delivery {
	switch (standing.kind) {
		case "in_lane":
			return { state: "attempting", attempt: 1, replay: 0, nextRetryAt: null, attempts };
		case "queued": {
			const { attempt, replay, dueAt } = standing;
			return { state: "attempting", attempt, replay, nextRetryAt: dueAt, attempts };
		}
		case "over": {
			const { attempt, replay, status } = standing;
			const state = status === "delivered" ? "delivered" : "dead_lettered";
			return { state, attempt, replay, nextRetryAt: null, attempts };
		}
	}
}
