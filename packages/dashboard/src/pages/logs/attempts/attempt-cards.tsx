import type { ListedAttempt } from "../../../api/attempts.ts";
import { responseWords } from "../../../lib/attempts/attempt-words.ts";
import { rowWords } from "../../../lib/attempts/event-words.ts";
import { formatMs } from "../../../lib/text/numbers.ts";
import { attemptOutcome, Outcome } from "../../../ui/deliveries/outcome.tsx";
import { LogCards } from "../log-cards.tsx";
import type { LogRows } from "../log-table.tsx";
import { EventCell, isPending, NextRetryCell } from "./attempt-cells.tsx";

/** The log's attempts as cards. */
export const AttemptCards = ({ nameOf, stateOf, ...props }: LogRows<ListedAttempt>) => (
	<LogCards
		{...props}
		label="Attempts"
		keyOf={({ id }) => id}
		partsOf={(attempt) => ({
			attempt,
			what: rowWords(attempt, nameOf(attempt.webhook_id)),
			state: <Outcome kind={attemptOutcome(attempt.status, attempt.followed)} />,
			event: <EventCell attempt={attempt} />,
			name: nameOf(attempt.webhook_id),
			response: `${responseWords(attempt).short}, ${formatMs(attempt.response_ms)}`,
			next: isPending(attempt) ? (
				<NextRetryCell attempt={attempt} webhook={stateOf(attempt.webhook_id)} label="next:" />
			) : null,
		})}
	/>
);
