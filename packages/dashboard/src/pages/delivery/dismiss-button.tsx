import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { DeliveryId } from "../../api/deliveries.ts";
import { deliveryWords, type EventFacts } from "../../lib/attempts/event-words.ts";
import { ForRole } from "../../ui/account/for-role.tsx";
import { DismissSelected } from "../logs/actions/dismiss-selected.tsx";

interface DismissButtonProps {
	projectId: string;
	delivery: DeliveryId & EventFacts;
	/** The webhook's display name. */
	name: string;
}

/** Marks a failed delivery as needing no decision, after a confirmation. */
export function DismissButton({ projectId, delivery, name }: DismissButtonProps) {
	const [asking, ask] = useDisclosure(false);
	return (
		<ForRole needs="developer">
			<Button variant="default" onClick={ask.open}>
				Dismiss
			</Button>
			<DismissSelected
				projectId={projectId}
				deliveries={asking ? [delivery] : null}
				what={deliveryWords(delivery, name)}
				onClose={ask.close}
			/>
		</ForRole>
	);
}
