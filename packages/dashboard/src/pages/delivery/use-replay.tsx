import { Stack } from "@mantine/core";
import { type ReactElement, useState } from "react";
import { type DeliveryId, replayDelivery, retryDelivery } from "../../api/deliveries.ts";
import { useRole } from "../../api/session.ts";
import { isolated } from "../../lib/text/names.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { HowReplaysWork } from "../../ui/deliveries/replay-preview.tsx";
import { useAction } from "../../ui/hooks/use-action.ts";
import { notifyDone, notifyUndone } from "../../ui/notify.tsx";
import type { StandingState } from "./delivery-state.ts";

interface ReplayOptions {
	projectId: string;
	/** Undefined until it is known. */
	delivery: DeliveryId | undefined;
	state: StandingState | null;
	/** The webhook's display name. */
	name: string;
	/** Called once the replay or retry has begun. */
	onSent: () => void;
}

export interface Replay {
	/** Retries now if a retry waits; otherwise replays, or asks first if the event was already delivered. */
	readonly ask: () => void;
	readonly busy: boolean;
	readonly dialog: ReactElement;
}

/** Sends the open delivery again: immediately if it failed, after a confirmation if it was already delivered. */
export function useReplay({ projectId, delivery, state, name, onSent }: ReplayOptions): Replay {
	const { may } = useRole();
	const [asking, setAsking] = useState(false);
	const send = useAction(async () => {
		if (delivery === undefined) return;
		if (state?.canRetry) {
			await retryDelivery(projectId, delivery);
			notifyDone("Retrying now.");
		} else {
			const { webhook_id, event_id } = delivery;
			await replayDelivery(projectId, { webhook_id, event_id });
			notifyDone(`Sending to ${isolated(name)} again.`);
		}
		onSent();
	});
	const ask = () => {
		if (send.busy || state === null) return;
		if (!may("developer")) return notifyUndone("Only the project's developers and owners can send it again.");
		if (state.canRetry) return void send.run();
		if (state.refusal !== null) return notifyUndone(state.refusal);
		if (state.outcome === "delivered") setAsking(true);
		else void send.run();
	};
	return {
		ask,
		busy: send.busy,
		dialog: (
			<Confirm
				opened={asking}
				onClose={() => setAsking(false)}
				title="Send it again?"
				action="Replay"
				focus="action"
				onConfirm={send.run}
			>
				<Stack>
					<div>
						This event was already delivered. A replay sends it to {isolated(name)} again. A receiver that remembers ids
						returns 2xx and does nothing; others do their work twice.
					</div>
					<HowReplaysWork isSentTwice={false} one />
				</Stack>
			</Confirm>
		),
	};
}
