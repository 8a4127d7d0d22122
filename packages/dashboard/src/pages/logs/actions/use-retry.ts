import { useRef } from "react";
import { type DeliveryId, retryDeliveries } from "../../../api/deliveries.ts";
import { type EventFacts, eventWords } from "../../../lib/attempts/event-words.ts";
import { plural } from "../../../lib/text/numbers.ts";
import { notifyDone, notifyProblem, notifyUndone } from "../../../ui/notify.tsx";

/**
 * Makes the pending attempts of deliveries of the list now, once at a time, and says what it has done.
 *
 * @param onRetried called if there were any
 */
export function useRetry(projectId: string, onRetried: () => void) {
	const isRunning = useRef(false);
	/** @param event of a single delivery, to name it */
	return async (deliveries: readonly DeliveryId[], event?: EventFacts): Promise<void> => {
		if (isRunning.current) return;
		isRunning.current = true;
		try {
			const { count, skipped } = await retryDeliveries(projectId, deliveries);
			if (count === 0) {
				notifyUndone(
					deliveries.length === 1
						? "It no longer waits for a retry."
						: "None of them waits for a retry. Replay finished deliveries instead.",
				);
				return;
			}
			const what = event === undefined ? plural(count, "delivery") : eventWords(event);
			const others = skipped === 0 ? "" : ` ${plural(skipped, "other")} skipped: no retry waits.`;
			notifyDone(`Retrying ${what} now.${others}`);
			onRetried();
		} catch (error) {
			notifyProblem(error);
		} finally {
			isRunning.current = false;
		}
	};
}
