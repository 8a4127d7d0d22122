import { Button } from "@mantine/core";
import { type DeliveryId, dismissDelivery } from "../../api/deliveries.ts";
import { ForRole } from "../../ui/account/for-role.tsx";
import { useAction } from "../../ui/hooks/use-action.ts";
import { notifyDone } from "../../ui/notify.tsx";

/** Marks a failed delivery as needing no decision. */
export function DismissButton({ projectId, delivery }: { projectId: string; delivery: DeliveryId }) {
	const { busy, run } = useAction(async () => {
		await dismissDelivery(projectId, delivery);
		notifyDone("Dismissed. It stays in the log and can still be replayed.");
	});
	return (
		<ForRole needs="developer">
			<Button variant="default" loading={busy} onClick={() => void run()}>
				Dismiss
			</Button>
		</ForRole>
	);
}
