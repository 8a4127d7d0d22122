import { Button } from "@mantine/core";
import { IconActivity, IconFilterOff } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { EmptyState } from "../../ui/states.tsx";
import { AttemptsTable } from "./attempts-table.tsx";
import { EXAMPLE_ATTEMPTS, EXAMPLE_WEBHOOK_NAME } from "./example-attempts.ts";

const NO_SELECTION = { size: 0, deliveries: [], has: () => false, set: () => {}, setAll: () => {} };

/** The empty log: explains what will appear and how to get there. */
export function NothingYet({ projectId, narrow }: { projectId: string; narrow: boolean }) {
	return (
		<EmptyState
			title="Nothing has been sent yet"
			icon={<IconActivity size={26} />}
			action={
				<Button renderRoot={(props) => <Link {...props} to="/p/$projectId/webhooks" params={{ projectId }} />}>
					Go to the webhooks
				</Button>
			}
			preview={
				narrow ? undefined : (
					<AttemptsTable
						rows={EXAMPLE_ATTEMPTS}
						nameOf={() => EXAMPLE_WEBHOOK_NAME}
						selection={NO_SELECTION}
						openId={null}
						isNew={() => false}
						onOpen={() => {}}
						hrefOf={() => "#"}
						keys={{}}
					/>
				)
			}
		>
			Every delivery attempt appears here, with the request, the response, and the time of the next retry. Open a
			webhook and send it a test event to see the first one.
		</EmptyState>
	);
}

export function NothingMatches({ onClear }: { onClear: () => void }) {
	return (
		<EmptyState
			title="Nothing matches"
			icon={<IconFilterOff size={26} />}
			action={
				<Button variant="default" onClick={onClear}>
					Clear the filters
				</Button>
			}
		>
			No attempt in the log matches all filters. Remove one, or choose a longer time. Attempts are kept for 30 days by
			default.
		</EmptyState>
	);
}
