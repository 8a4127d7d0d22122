import { Stack } from "@mantine/core";
import { type BulkResult, type DeliveryId, replayDeliveries, replayDelivery } from "../../../api/deliveries.ts";
import { plural } from "../../../lib/text/numbers.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { HowReplaysWork } from "../../../ui/deliveries/replay-preview.tsx";
import { notifyDone } from "../../../ui/notify.tsx";

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

/** Asks for confirmation before a delivery or selected ones are sent again. */
export function ReplaySelected({ projectId, deliveries, what, isSentTwice, onClose }: ReplaySelectedProps) {
	return (
		<Confirm
			opened={deliveries !== null}
			onClose={() => onClose(false)}
			title="Replay"
			action="Replay"
			focus="action"
			onDone={() => onClose(true)}
			onConfirm={async () => {
				const [one, ...others] = deliveries ?? [];
				if (one !== undefined && others.length === 0) {
					await replayDelivery(projectId, one);
					notifyDone(`Sending ${what} again.`);
				} else notifyDone(resultInWords(await replayDeliveries(projectId, deliveries ?? [])));
			}}
		>
			{deliveries === null ? null : (
				<Stack>
					<div>Send {what} again?</div>
					<HowReplaysWork isSentTwice={isSentTwice} one={deliveries.length === 1} />
				</Stack>
			)}
		</Confirm>
	);
}

/** The result: how many are being sent, and how many couldn't be replayed. */
function resultInWords({ count, skipped, left = 0 }: BulkResult): string {
	const begun = count === 0 ? "" : `${plural(count, "delivery")} sent again.`;
	const rest =
		skipped === 0
			? ""
			: `${plural(skipped, "delivery")} skipped, because they are still being attempted or no longer exist.`;
	const missed = left === 0 ? "" : `${plural(left, "delivery")} not tried because of an error: replay them again.`;
	return [begun, rest, missed].filter((part) => part !== "").join(" ");
}
