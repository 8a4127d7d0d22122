import { type DeliveryId, retryDeliveries } from "../../../api/deliveries.ts";
import { type EventFacts, eventWords } from "../../../lib/attempts/event-words.ts";
import { plural } from "../../../lib/text/numbers.ts";
import { useAction } from "../../../ui/hooks/use-action.ts";
import { notifyDone, notifyUndone } from "../../../ui/notify.tsx";

/**
 * Makes the pending attempts of selected deliveries now, and says what it has done.
 *
 * @param onRetried called if there were any
 */
export function useRetry(projectId: string, onRetried: () => void) {
	/** @param event of a single delivery, to name it */
	const retry = async (deliveries: readonly DeliveryId[], event?: EventFacts): Promise<void> => {
		const { count, skipped } = await retryDeliveries(projectId, deliveries);
		if (count === 0)
			return notifyUndone(
				deliveries.length === 1
					? "It's no longer waiting for a retry."
					: "None of them is waiting for a retry. Replay finished deliveries instead.",
			);
		const what = event === undefined ? plural(count, "delivery") : eventWords(event);
		const others = skipped === 0 ? "" : ` ${plural(skipped, "other")} skipped: no retry is pending.`;
		notifyDone(`Retrying ${what} now.${others}`);
		onRetried();
	};
	return useAction(retry).run;
}
