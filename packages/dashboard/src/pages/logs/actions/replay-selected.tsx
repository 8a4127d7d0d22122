import { Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { type DeliveryId, type Replayed, replayDeliveries } from "../../../api/deliveries.ts";
import { plural } from "../../../lib/text/numbers.ts";
import { HowReplaysWork } from "../../../ui/deliveries/replay-preview.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { notifyDone } from "../../../ui/notify.tsx";
import { ErrorState } from "../../../ui/page/states.tsx";

interface ReplaySelectedProps {
	projectId: string;
	/** Null while nothing is requested. */
	deliveries: readonly DeliveryId[] | null;
	/** Describes them: `purchase.completed to Accounting`, or a number of deliveries. */
	what: string;
	/** Whether some of them were delivered before. */
	isSentTwice: boolean;
	/** @param replayed whether they were replayed */
	onClose: (replayed: boolean) => void;
}

/** Asks for confirmation before selected deliveries are sent again. */
export function ReplaySelected({ deliveries, ...props }: ReplaySelectedProps) {
	return (
		<Dialog opened={deliveries !== null} onClose={() => props.onClose(false)} title="Replay">
			{deliveries === null ? null : <Question {...props} deliveries={deliveries} />}
		</Dialog>
	);
}

function Question({
	projectId,
	deliveries,
	what,
	isSentTwice,
	onClose,
}: ReplaySelectedProps & { deliveries: readonly DeliveryId[] }) {
	const [busy, setBusy] = useState(false);
	const [problem, setProblem] = useState<unknown>(null);
	const run = async () => {
		setBusy(true);
		setProblem(null);
		try {
			notifyDone(resultInWords(await replayDeliveries(projectId, deliveries)));
			onClose(true);
		} catch (error) {
			setProblem(error);
			setBusy(false);
		}
	};
	return (
		<Stack>
			<Text size="sm">Send {what} again?</Text>
			<HowReplaysWork isSentTwice={isSentTwice} one={deliveries.length === 1} />
			{problem === null ? null : <ErrorState error={problem} />}
			<Group justify="flex-end" gap="xs">
				<Button variant="default" onClick={() => onClose(false)}>
					Cancel
				</Button>
				<Button loading={busy} onClick={() => void run()} data-autofocus>
					Replay
				</Button>
			</Group>
		</Stack>
	);
}

/** The result: how many are being sent, and how many couldn't be replayed. */
export function resultInWords({ count, skipped, left = 0 }: Replayed): string {
	const begun = count === 0 ? "" : `${plural(count, "delivery", "deliveries")} sent again.`;
	const rest =
		skipped === 0
			? ""
			: `${plural(skipped, "delivery", "deliveries")} skipped, because they are still being attempted or no longer exist.`;
	const missed =
		left === 0 ? "" : `${plural(left, "delivery", "deliveries")} not reached because of an error: replay them again.`;
	return [begun, rest, missed].filter((part) => part !== "").join(" ");
}
