import { useQuery } from "@tanstack/react-query";
import { type Attempt, type AttemptSummary, attemptQuery, newestAttemptsQuery } from "../../api/attempts.ts";
import { type Delivery, type DeliveryId, deliveryQuery, WATCH_MS } from "../../api/deliveries.ts";

interface OpenDelivery {
	/** The attempt in the address bar; undefined until it is known. */
	readonly attempt: Attempt | undefined;
	/** The delivery that it belongs to; null if it no longer exists, undefined until it is known. */
	readonly delivery: Delivery | null | undefined;
	/** The delivery's attempts, in any order; undefined until they are known. */
	readonly attempts: readonly AttemptSummary[] | undefined;
	readonly error: unknown;
	readonly retry: () => unknown;
}

export type Position = Pick<AttemptSummary, "replay" | "attempt">;

/** In the order in which a delivery's attempts are made. */
export const byPosition = (one: Position, other: Position) => one.replay - other.replay || one.attempt - other.attempt;

const NONE: DeliveryId = { webhook_id: "", event_id: "" };
/** As many attempts as a delivery lists itself. */
const MOST = 200;

/**
 * An attempt and its delivery. A delivery is deleted with its webhook; its attempts stay in the log.
 *
 * @param row what the list already knows of it, so that both can be fetched at once
 * @param isWatched whether its next attempt is expected any moment
 */
export function useDelivery(
	projectId: string,
	attemptId: string,
	row: AttemptSummary | undefined,
	isWatched: boolean,
): OpenDelivery {
	const attempt = useQuery(attemptQuery(projectId, attemptId));
	const { webhook_id, event_id } = attempt.data ?? row ?? NONE;
	const id = { webhook_id, event_id };
	const delivery = useQuery({
		...deliveryQuery(projectId, id),
		enabled: webhook_id !== "",
		refetchInterval: isWatched ? WATCH_MS : false,
	});
	const logged = useQuery({
		...newestAttemptsQuery(projectId, { ...id, webhook_id: [id.webhook_id] }, MOST),
		enabled: delivery.data === null,
	});
	const failed = [attempt, delivery, logged].find(({ data, error }) => data === undefined && error !== null);
	return {
		attempt: attempt.data,
		delivery: delivery.data,
		attempts: delivery.data === null ? logged.data : delivery.data?.attempts,
		error: failed?.error ?? null,
		retry: () => failed?.refetch(),
	};
}
