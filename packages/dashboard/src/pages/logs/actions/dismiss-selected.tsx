import { Stack } from "@mantine/core";
import { type BulkResult, type DeliveryId, dismissDeliveries, dismissDelivery } from "../../../api/deliveries.ts";
import { plural } from "../../../lib/text/numbers.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { notifyDone, notifyUndone } from "../../../ui/notify.tsx";
import { dismissalWords } from "./dismiss-all.tsx";

interface DismissSelectedProps {
	projectId: string;
	/** Null while nothing is requested. */
	deliveries: readonly DeliveryId[] | null;
	/** Describes it if it's one: `purchase.completed to Accounting`. */
	what: string;
	/** @param dismissed whether they were dismissed */
	onClose: (dismissed: boolean) => void;
}

/** Asks for confirmation before a failed delivery or selected ones are marked as needing no decision. */
export function DismissSelected({ projectId, deliveries, what, onClose }: DismissSelectedProps) {
	const words =
		deliveries === null ? null : dismissalWords(deliveries.length, deliveries.length === 1 ? what : undefined);
	return (
		<Confirm
			opened={deliveries !== null}
			onClose={() => onClose(false)}
			title="Dismiss"
			action="Dismiss"
			focus="action"
			onDone={() => onClose(true)}
			onConfirm={async () => {
				const [one, ...others] = deliveries ?? [];
				if (one !== undefined && others.length === 0) {
					await dismissDelivery(projectId, one);
					notifyDone(`Dismissed ${what}. It stays in the log and can still be replayed.`);
				} else {
					const done = await dismissDeliveries(projectId, deliveries ?? []);
					if (done.count === 0) notifyUndone("They have been replayed or dismissed in the meantime.");
					else notifyDone(resultInWords(done));
				}
			}}
		>
			{words === null ? null : (
				<Stack gap="sm">
					<div>{words.does}.</div>
					<div>{words.means}</div>
				</Stack>
			)}
		</Confirm>
	);
}

const resultInWords = ({ count, skipped }: BulkResult): string =>
	`${plural(count, "failed delivery")} dismissed.${skipped === 0 ? "" : ` ${plural(skipped, "other")} skipped.`}`;
