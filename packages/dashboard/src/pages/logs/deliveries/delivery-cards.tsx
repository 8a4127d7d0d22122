import { responseWords } from "../../../lib/attempts/attempt-words.ts";
import { rowWords } from "../../../lib/attempts/event-words.ts";
import { LogCards } from "../log-cards.tsx";
import {
	type DeliveriesProps,
	DeliveryEvent,
	DeliveryState,
	isOpen,
	NextRetry,
	seriesKey,
} from "./deliveries-table.tsx";

/** The list of deliveries as cards. */
export const DeliveryCards = ({ nameOf, stateOf, onReplay, onRetried, ...props }: DeliveriesProps) => (
	<LogCards
		{...props}
		label="Deliveries"
		keyOf={seriesKey}
		partsOf={(row) => {
			const name = nameOf(row.webhook_id);
			const actions = { webhook: stateOf(row.webhook_id), name, onReplay, onRetried };
			return {
				attempt: row.last_attempt,
				what: rowWords(row, name),
				state: <DeliveryState row={row} />,
				event: <DeliveryEvent row={row} />,
				name,
				response: row.last_attempt === null ? "" : responseWords(row.last_attempt).short,
				next: isOpen(row) ? <NextRetry row={row} {...actions} /> : null,
			};
		}}
	/>
);
