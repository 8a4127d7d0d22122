import { type ReactElement, useState } from "react";
import { type DeliveryId, deliveryKey, retryDelivery } from "../../api/deliveries.ts";
import { useRole } from "../../api/session.ts";
import { deliveryWords, type EventFacts, eventWords } from "../../lib/attempts/event-words.ts";
import { useAction } from "../../ui/hooks/use-action.ts";
import { notifyDone, notifyUndone } from "../../ui/notify.tsx";
import { ReplaySelected } from "../logs/actions/replay-selected.tsx";
import { REFUSALS } from "../logs/sendable.ts";
import type { StandingState } from "./delivery-state.ts";

interface ReplayOptions {
	projectId: string;
	/** Undefined until it is known. */
	delivery: (DeliveryId & EventFacts) | undefined;
	state: StandingState | null;
	/** The webhook's display name. */
	name: string;
	/** Called once the replay or retry has begun. */
	onSent: () => void;
}

export interface Replay {
	/** Retries now if a retry waits; otherwise asks whether to replay. */
	readonly ask: () => void;
	readonly dialog: ReactElement;
}

/** Sends the open delivery again. */
export function useReplay({ projectId, delivery, state, name, onSent }: ReplayOptions): Replay {
	const { may } = useRole();
	const key = delivery === undefined ? null : deliveryKey(delivery);
	/** The delivery that the question is about: it ends when the browser's Back opens another one. */
	const [asking, setAsking] = useState<string | null>(null);
	if (asking !== null && asking !== key) setAsking(null);
	const retry = useAction(async () => {
		if (delivery === undefined) return;
		await retryDelivery(projectId, delivery);
		notifyDone(`Retrying ${eventWords(delivery)} now.`);
		onSent();
	});
	const ask = () => {
		if (retry.busy || state === null) return;
		if (!may("developer")) return notifyUndone(REFUSALS.viewer);
		if (state.canRetry) return void retry.run();
		if (state.refusal !== null) return notifyUndone(state.refusal);
		setAsking(key);
	};
	return {
		ask,
		dialog: (
			<ReplaySelected
				projectId={projectId}
				deliveries={asking === key && delivery !== undefined ? [delivery] : null}
				what={delivery === undefined ? "" : deliveryWords(delivery, name)}
				isSentTwice={state?.outcome === "delivered"}
				onClose={(replayed) => {
					setAsking(null);
					if (replayed) onSent();
				}}
			/>
		),
	};
}
