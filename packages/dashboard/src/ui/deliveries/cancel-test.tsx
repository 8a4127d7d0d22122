import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { cancelTest, type DeliveryId } from "../../api/deliveries.ts";
import { ForRole } from "../account/for-role.tsx";
import { useAction } from "../hooks/use-action.ts";
import { notifyDone } from "../notify.tsx";

interface CancelTestProps {
	projectId: string;
	delivery: DeliveryId;
	/** Names the row of a list for screen readers; without it, the button has room for its words. */
	inRowOf?: string;
	onDone?: (() => void) | undefined;
}

/** Ends the delivery of a test event that waits. */
export function CancelTest({ projectId, delivery, inRowOf, onDone }: CancelTestProps) {
	const { busy, run } = useAction(async () => {
		await cancelTest(projectId, delivery);
		notifyDone("Test cancelled. It won't be sent again.");
		onDone?.();
	});
	return (
		<ForRole needs="developer">
			{inRowOf === undefined ? (
				<Button variant="default" loading={busy} onClick={() => void run()}>
					Cancel test
				</Button>
			) : (
				<Tooltip label="Cancel this test">
					<ActionIcon
						size={22}
						variant="default"
						aria-label={`Cancel the test: ${inRowOf}`}
						loading={busy}
						onClick={(event) => {
							event.stopPropagation();
							void run();
						}}
					>
						<IconX size={14} aria-hidden />
					</ActionIcon>
				</Tooltip>
			)}
		</ForRole>
	);
}
