import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { DeliveryId } from "../../api/deliveries.ts";
import { ForRole } from "../../ui/account/for-role.tsx";
import { DismissSelected } from "../logs/actions/dismiss-selected.tsx";

/** Marks a failed delivery as needing no decision, after a confirmation. */
export function DismissButton({ projectId, delivery }: { projectId: string; delivery: DeliveryId }) {
	const [asking, ask] = useDisclosure(false);
	return (
		<ForRole needs="developer">
			<Button variant="default" onClick={ask.open}>
				Dismiss
			</Button>
			<DismissSelected projectId={projectId} deliveries={asking ? [delivery] : null} onClose={ask.close} />
		</ForRole>
	);
}
