import { responseWords } from "../../../lib/attempts/attempt-words.ts";
import { rowWords } from "../../../lib/attempts/event-words.ts";
import { formatMs } from "../../../lib/text/numbers.ts";
import { attemptOutcome, Outcome } from "../../../ui/deliveries/outcome.tsx";
import { LogCards } from "../log-cards.tsx";
import { EventCell, isPending, NextRetryCell } from "./attempt-cells.tsx";
import type { AttemptsProps } from "./attempts-table.tsx";

/** The log's attempts as cards. */
export const AttemptCards = ({ nameOf, stateOf, openId, ...props }: AttemptsProps) => (
	<LogCards
		{...props}
		label="Attempts"
		keyOf={({ id }) => id}
		openKey={openId}
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
