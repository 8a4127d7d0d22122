import { Box, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import type { ListedAttempt } from "../../../api/attempts.ts";
import type { Health } from "../../../api/health.ts";
import { useSession } from "../../../api/session.ts";
import type { Webhook } from "../../../api/webhooks.ts";
import { responseWords } from "../../../lib/attempts/attempt-words.ts";
import { seriesLength } from "../../../lib/attempts/track.ts";
import { holdOf, isOlderThanLog } from "../../../lib/health/health-facts.ts";
import { untilNow } from "../../../lib/health/webhook-words.ts";
import { HOLDS } from "../../../lib/text/hold.ts";
import { formatMs } from "../../../lib/text/numbers.ts";
import { EventMark } from "../../../ui/deliveries/event-mark.tsx";
import { OrderId } from "../../../ui/deliveries/order-id.tsx";
import { attemptOutcome, Outcome } from "../../../ui/deliveries/outcome.tsx";
import { useNarrow } from "../../../ui/hooks/use-width.ts";
import { Code } from "../../../ui/ident.tsx";
import { type Column, DataTable } from "../../../ui/page/data-table.tsx";
import { ErrorState } from "../../../ui/page/states.tsx";
import { When } from "../../../ui/when.tsx";
import { RECENT_SHOWN, recentAttemptsQuery } from "../use-webhook.ts";
import classes from "./activity-lists.module.css";
import { RecentRows } from "./recent-rows.tsx";

const COLUMNS: readonly Column<ListedAttempt>[] = [
	{ key: "time", header: "Time", render: ({ started_at }) => <When at={started_at} />, width: 100 },
	{
		key: "outcome",
		header: "Outcome",
		render: ({ status, followed }) => <Outcome kind={attemptOutcome(status, followed)} />,
		width: 120,
	},
	{ key: "type", header: "Event", render: (attempt) => <EventType attempt={attempt} /> },
	{ key: "response", header: "Response", render: (attempt) => responseWords(attempt).short, width: 130 },
	{
		key: "attempt",
		header: "Attempt",
		render: (attempt) => <AttemptNumber attempt={attempt} />,
		width: 90,
	},
	{
		key: "duration",
		header: "Duration",
		render: ({ response_ms }) => <span className={classes.figure}>{formatMs(response_ms)}</span>,
		align: "right",
		width: 100,
	},
];

const EventType = ({ attempt: { event_id, event_type, order_id, test } }: { attempt: ListedAttempt }) => (
	<Group gap="0 8px" align="baseline" style={{ whiteSpace: "nowrap" }}>
		<Code>{event_type}</Code>
		<EventMark event={{ event_id, test }} />
		<OrderId id={order_id} />
	</Group>
);

function AttemptNumber({ attempt }: { attempt: ListedAttempt }) {
	const number = `${attempt.attempt} of ${seriesLength(attempt, useSession())}`;
	return attempt.replay === 0 ? number : `${number}, replay ${attempt.replay}`;
}

interface RecentAttemptsProps {
	projectId: string;
	webhook: Webhook;
	/** Undefined until it is known. */
	health: Health | undefined;
}

/** The newest attempts; each opens in the log. */
export function RecentAttempts({ projectId, webhook, health }: RecentAttemptsProps) {
	const { data, error, refetch } = useQuery(recentAttemptsQuery(projectId, webhook.id));
	const { log_retention_days: days } = useSession();
	const navigate = useNavigate();
	const router = useRouter();
	const narrow = useNarrow();
	const placeOf = ({ id }: ListedAttempt) => ({
		to: "/p/$projectId/logs/$attemptId" as const,
		params: { projectId, attemptId: id },
		search: { webhook_id: webhook.id },
	});
	if (error !== null && data === undefined) {
		return (
			<Box p="md">
				<ErrorState error={error} onRetry={refetch} />
			</Box>
		);
	}
	if (data?.length === 0) {
		const nothing = `Nothing has been sent ${untilNow(isOlderThanLog(webhook, health), days)}`;
		const hold = holdOf(webhook);
		return (
			<Text size="sm" c="dimmed" px={20} pb={20}>
				{hold === null
					? `${nothing}. Send a test event, or wait for the next event.`
					: `${nothing}, because ${HOLDS[hold].cause}.`}
			</Text>
		);
	}
	if (narrow) return <RecentRows rows={data} skeletons={RECENT_SHOWN} placeOf={placeOf} />;
	return (
		<DataTable
			label="Recent attempts"
			columns={COLUMNS}
			rows={data}
			rowKey={({ id }) => id}
			skeletonRows={RECENT_SHOWN}
			onOpen={(row) => void navigate(placeOf(row))}
			hrefOf={(row) => router.buildLocation(placeOf(row)).href}
		/>
	);
}
