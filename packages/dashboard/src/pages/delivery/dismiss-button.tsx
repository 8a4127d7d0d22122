import { Button } from "@mantine/core";
import { useState } from "react";
import { type DeliveryId, dismissDelivery } from "../../api/deliveries.ts";
import { ForRole } from "../../ui/for-role.tsx";
import { notifyDone, notifyProblem } from "../../ui/notify.tsx";

/** Marks a failed delivery as needing no decision. */
export function DismissButton({ projectId, delivery }: { projectId: string; delivery: DeliveryId }) {
	const [busy, setBusy] = useState(false);
	const run = async () => {
		setBusy(true);
		try {
			await dismissDelivery(projectId, delivery);
			notifyDone("Dismissed. It stays in the log and can still be replayed.");
		} catch (error) {
			notifyProblem(error);
		} finally {
			setBusy(false);
		}
	};
	return (
		<ForRole needs="developer">
			{(disabled) => (
				<Button variant="default" disabled={disabled} loading={busy} onClick={() => void run()}>
					Dismiss
				</Button>
			)}
		</ForRole>
	);
}
