import type { AttemptSummary } from "../../api/attempts.ts";
import type { Delivery } from "../../api/deliveries.ts";
import type { Prospect } from "../../lib/attempts/advice/advice.ts";
import { HOLDS, type Hold } from "../../lib/text/hold.ts";
import type { OutcomeKind } from "../../ui/deliveries/outcome.tsx";
import { REFUSALS } from "../logs/sendable.ts";

/** A delivery's state, regardless of which of its attempts is selected. */
export interface StandingState {
	readonly outcome: OutcomeKind;
	readonly word: string;
	/** Whether no further attempt is scheduled. */
	readonly over: boolean;
	/** Why it can't be replayed; null if it can. */
	readonly refusal: string | null;
	/** Whether it is a dead letter that nothing was decided about. */
	readonly canDismiss?: boolean;
	/** Whether its next attempt waits for its time, and can be made now. */
	readonly canRetry: boolean;
	/** When the next attempt is due, ISO 8601; null while it is in progress, or if none follows. */
	readonly nextAt: string | null;
	/** Why the next attempt waits although it may be due; null if nothing but its time holds it up. */
	readonly hold: Hold | null;
}

type Facts = Pick<AttemptSummary, "status" | "next_retry_at">;
type Known = Pick<Delivery, "state" | "attempt" | "next_retry_at"> &
	Partial<Pick<Delivery, "dismissed">> & { readonly attempts?: readonly Pick<AttemptSummary, "error_code">[] };

const GONE = "It can't be replayed, because its webhook was deleted or its event is no longer stored.";

const OVER = { over: true, canRetry: false, nextAt: null, hold: null } as const;
const DELIVERED = { outcome: "delivered", word: "Delivered", ...OVER } as const;
const FAILED = { outcome: "failed", word: "Failed", ...OVER } as const;
const ABANDONED = { outcome: "abandoned", word: "Won't be retried", ...OVER } as const;

/**
 * @param delivery null if it no longer exists, undefined until it is known: then the attempt shows what it can
 * @param hold why nothing is sent to its webhook
 */
export function stateOf(attempt: Facts, delivery: Known | null | undefined, hold: Hold | null = null): StandingState {
	if (delivery === null) return { ...lastWord(attempt), refusal: GONE };
	const state = delivery?.state ?? (attempt.status === "retrying" ? "attempting" : attempt.status);
	switch (state) {
		case "delivered":
			return { ...DELIVERED, refusal: null };
		case "dead_lettered":
		case "failed":
			if (delivery?.dismissed) return { ...FAILED, outcome: "dismissed", word: "Dismissed", refusal: null };
			if (delivery?.attempts?.at(-1)?.error_code === "test_cancelled")
				return { ...FAILED, outcome: "cancelled", word: "Cancelled", refusal: null };
			return { ...FAILED, canDismiss: delivery?.state === "dead_lettered", refusal: null };
		case "attempting": {
			const { next_retry_at: nextAt } = delivery ?? attempt;
			const refusal = hold === null ? REFUSALS.inProgress : HOLDS[hold].refusal;
			const rest = { over: false, refusal, nextAt, hold };
			return delivery?.attempt === 1
				? { outcome: "waiting", word: hold === null ? "On its way" : "Waiting", canRetry: false, ...rest }
				: {
						outcome: "retrying",
						word: nextAt === null && hold === null ? "Being sent" : "Waiting",
						canRetry: nextAt !== null && hold === null,
						...rest,
					};
		}
	}
}

/** What advice about one of the delivery's attempts depends on. */
export function prospectOf({ outcome, over, hold }: StandingState): Prospect {
	if (outcome === "delivered") return "delivered";
	return over ? "over" : (hold ?? "open");
}

function lastWord({ status }: Facts): Omit<StandingState, "refusal"> {
	if (status === "delivered") return DELIVERED;
	return status === "failed" ? FAILED : ABANDONED;
}
