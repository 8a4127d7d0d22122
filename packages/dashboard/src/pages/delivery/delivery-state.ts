import type { AttemptSummary } from "../../api/attempts.ts";
import type { Delivery } from "../../api/deliveries.ts";

/** How a delivery stands, whichever of its attempts is looked at. */
export interface StandingState {
	readonly outcome: "delivered" | "retrying" | "waiting" | "failed";
	readonly word: string;
	/** Whether a replay may begin. */
	readonly over: boolean;
	/** When the next attempt is due, ISO 8601; null while it is under way, and where none follows. */
	readonly nextAt: string | null;
}

/** @param delivery null when it is gone, undefined until it is known: then the attempt tells what it can */
export function stateOf(
	attempt: Pick<AttemptSummary, "status" | "next_retry_at">,
	delivery: Pick<Delivery, "state" | "attempt" | "next_retry_at"> | null | undefined,
): StandingState {
	const state = delivery?.state ?? (attempt.status === "retrying" ? "attempting" : attempt.status);
	switch (state) {
		case "delivered":
			return { outcome: "delivered", word: "Delivered", over: true, nextAt: null };
		case "dead_lettered":
		case "failed":
			return { outcome: "failed", word: "Failed", over: true, nextAt: null };
		case "attempting": {
			const nextAt = delivery == null ? attempt.next_retry_at : delivery.next_retry_at;
			const first = delivery?.attempt === 1;
			return { outcome: first ? "waiting" : "retrying", word: first ? "On its way" : "Retrying", over: false, nextAt };
		}
	}
}
