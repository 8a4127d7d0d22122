import { Button } from "@mantine/core";
import { useMemo } from "react";
import { type DeliverySummary, deliveryKey } from "../../../api/deliveries.ts";
import { useProjectId, useRole } from "../../../api/session.ts";
import { rowWords } from "../../../lib/attempts/event-words.ts";
import { dueWords } from "../../../lib/text/time.ts";
import { Breakable } from "../../../ui/breakable.tsx";
import { CancelTest } from "../../../ui/deliveries/cancel-test.tsx";
import { Outcome } from "../../../ui/deliveries/outcome.tsx";
import { RetryNow } from "../../../ui/deliveries/retry-now.tsx";
import { TrackMini } from "../../../ui/deliveries/track-mini.tsx";
import type { Column } from "../../../ui/page/data-table.tsx";
import { When } from "../../../ui/when.tsx";
import { EventDetails, NameCell, ResponseCell } from "../attempts/attempt-cells.tsx";
import { AttemptLink } from "../attempts/attempt-link.tsx";
import classes from "../attempts/attempts.module.css";
import type { NameOf } from "../filters/filter-words.ts";
import { type LogRows, LogTable } from "../log-table.tsx";
import { holdIn, type SendState } from "../sendable.ts";

/** Tells series apart. */
export const seriesKey = (row: DeliverySummary) => `${deliveryKey(row)} ${row.replay}`;

type RowActions = Pick<DeliveriesProps, "onReplay" | "onRetried">;

export interface DeliveriesProps extends LogRows<DeliverySummary> {
	onReplay: (row: DeliverySummary) => void;
	onRetried: () => void;
}

/** In pixels: room for the longest type. */
const EVENT_WIDTH = 178;

const lastAttemptOf = (row: DeliverySummary) => row.last_attempt;

/** The log by deliveries: a row for each, however many attempts it took. */
export function DeliveriesTable({ stateOf, onReplay, onRetried, ...props }: DeliveriesProps) {
	const { nameOf } = props;
	const selects = useRole().may("developer");
	const columns = useMemo(
		() => columnsOf(nameOf, stateOf, { onReplay, onRetried }, selects),
		[nameOf, stateOf, onReplay, onRetried, selects],
	);
	return <LogTable label="Deliveries" columns={columns} rowKey={seriesKey} attemptOf={lastAttemptOf} {...props} />;
}

/** @param selects whether there is a column for selecting rows */
const columnsOf = (
	nameOf: NameOf,
	stateOf: (id: string) => SendState,
	actions: RowActions,
	selects: boolean,
): readonly Column<DeliverySummary>[] => [
	{
		key: "time",
		header: "Last attempt",
		render: ({ last_attempt }) =>
			last_attempt === null ? <span className={classes.quiet}>none yet</span> : <When at={last_attempt.started_at} />,
		width: selects ? 94 : 104,
	},
	{ key: "state", header: "State", render: (row) => <DeliveryState row={row} />, width: 114 },
	{ key: "event", header: "Event", render: (row) => <DeliveryEvent row={row} />, width: EVENT_WIDTH },
	{ key: "webhook", header: "Webhook", render: ({ webhook_id }) => <NameCell name={nameOf(webhook_id)} /> },
	{
		key: "response",
		header: "Response",
		render: ({ last_attempt }) => (last_attempt === null ? null : <ResponseCell attempt={last_attempt} />),
		width: 107,
	},
	{
		key: "attempts",
		header: "Attempts",
		render: ({ last_attempt }) => (last_attempt === null ? "" : <TrackMini attempt={last_attempt} />),
		width: 132,
	},
	{
		key: "next",
		header: "Next",
		render: (row) => (
			<NextRetry row={row} webhook={stateOf(row.webhook_id)} name={nameOf(row.webhook_id)} {...actions} />
		),
		align: "right",
		// Room for both actions of a test that waits.
		width: 172,
	},
];

export function DeliveryState({ row: { state, handled, last_attempt } }: { row: DeliverySummary }) {
	if (state === "waiting") return <Outcome kind="retrying" label="Waiting" />;
	if (handled !== null) return <Outcome kind={handled} />;
	if (last_attempt?.error_code === "test_cancelled") return <Outcome kind="cancelled" />;
	return <Outcome kind={state} />;
}

/** The event's type, linked to the delivery's last attempt, and its order. */
export function DeliveryEvent({
	row: { event_id, event_type, order_id, last_attempt, test },
}: {
	row: DeliverySummary;
}) {
	return (
		<span className={classes.what}>
			{last_attempt === null ? (
				<span className={classes.event}>
					<Breakable name={event_type} />
				</span>
			) : (
				<AttemptLink id={last_attempt.id} type={event_type} />
			)}
			<EventDetails event={{ event_id, order_id, test }} />
		</span>
	);
}

interface NextRetryProps extends RowActions {
	row: DeliverySummary;
	webhook: SendState;
	/** The webhook's display name. */
	name: string;
}

/** Whether a row offers an action: a retry that waits, or a failure about which nothing was decided. */
export const isOpen = ({ state, handled, last_attempt }: DeliverySummary) =>
	state === "waiting" || (state === "failed" && handled === null && last_attempt?.error_code !== "test_cancelled");

/** When the next retry is due, and the action that sends it earlier or again. */
export function NextRetry({ row, webhook, name, onReplay, onRetried }: NextRetryProps) {
	const projectId = useProjectId();
	const { may } = useRole();
	const { state, next_retry_at, last_attempt } = row;
	const what = rowWords(row, name);
	const hold = holdIn(webhook);
	// A deleted webhook gets no more requests.
	if (webhook === "deleted") return <span className={classes.quiet}>–</span>;
	if (state === "failed" && isOpen(row) && may("developer"))
		return <ReplayInRow what={what} onReplay={() => onReplay(row)} />;
	if (state !== "waiting" || next_retry_at === null) return <span className={classes.quiet}>–</span>;
	return (
		<span className={classes.next}>
			<When at={next_retry_at} words={(at, now) => dueWords(at, now, hold)} />
			{hold !== null || last_attempt === null ? null : (
				<RetryNow projectId={projectId} delivery={row} dueAt={next_retry_at} inRow what={what} onDone={onRetried} />
			)}
			{row.test ? <CancelTest projectId={projectId} delivery={row} inRowOf={what} onDone={onRetried} /> : null}
		</span>
	);
}

function ReplayInRow({ what, onReplay }: { what: string; onReplay: () => void }) {
	return (
		<span className={classes.next}>
			<Button
				size="compact-xs"
				variant="default"
				aria-label={`Replay: ${what}`}
				onClick={(event) => {
					event.stopPropagation();
					onReplay();
				}}
			>
				Replay
			</Button>
		</span>
	);
}
