import { useQuery } from "@tanstack/react-query";
import { type Attempt, type AttemptSummary, attemptQuery } from "../../api/attempts.ts";
import { type Delivery, type DeliveryId, deliveryQuery } from "../../api/deliveries.ts";

export interface OpenDelivery {
	/** The attempt in the address bar; undefined until it is known. */
	readonly attempt: Attempt | undefined;
	/** The delivery that it belongs to; null when it is gone, undefined until it is known. */
	readonly delivery: Delivery | null | undefined;
	readonly error: unknown;
	readonly retry: () => unknown;
}

const NONE: DeliveryId = { webhook_id: "", event_id: "" };

/**
 * An attempt and its delivery.
 *
 * @param row what the list knows of it already, so that both can be asked for at once
 */
export function useDelivery(projectId: string, attemptId: string, row: AttemptSummary | undefined): OpenDelivery {
	const attempt = useQuery(attemptQuery(projectId, attemptId));
	const known = attempt.data ?? row;
	const delivery = useQuery({ ...deliveryQuery(projectId, known ?? NONE), enabled: known !== undefined });
	const failed = attempt.data === undefined ? attempt : delivery.data === undefined ? delivery : null;
	return {
		attempt: attempt.data,
		delivery: delivery.data,
		error: failed?.error ?? null,
		retry: () => failed?.refetch(),
	};
}
