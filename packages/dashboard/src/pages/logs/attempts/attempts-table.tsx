import { useMemo } from "react";
import type { ListedAttempt } from "../../../api/attempts.ts";
import { useRole } from "../../../api/session.ts";
import { attemptOutcome, Outcome } from "../../../ui/deliveries/outcome.tsx";
import { TrackMini } from "../../../ui/deliveries/track-mini.tsx";
import type { Column } from "../../../ui/page/data-table.tsx";
import { When } from "../../../ui/when.tsx";
import type { NameOf } from "../filters/filter-words.ts";
import { type LogRows, LogTable } from "../log-table.tsx";
import type { SendState } from "../sendable.ts";
import { DurationCell, EventCell, NameCell, NextRetryCell, ResponseCell } from "./attempt-cells.tsx";

const itself = (attempt: ListedAttempt) => attempt;

/** The log by attempts. */
export function AttemptsTable({ stateOf, ...props }: LogRows<ListedAttempt>) {
	const { nameOf } = props;
	const selects = useRole().may("developer");
	const columns = useMemo(() => columnsOf(nameOf, stateOf, selects), [nameOf, stateOf, selects]);
	return <LogTable label="Attempts" columns={columns} rowKey={({ id }) => id} attemptOf={itself} {...props} />;
}

/** @param selects whether there is a column for selecting rows */
const columnsOf = (
	nameOf: NameOf,
	stateOf: (webhookId: string) => SendState,
	selects: boolean,
): readonly Column<ListedAttempt>[] => [
	{ key: "time", header: "Time", render: ({ started_at }) => <When at={started_at} />, width: selects ? 94 : 104 },
	{
		key: "outcome",
		header: "Outcome",
		render: ({ status, followed }) => <Outcome kind={attemptOutcome(status, followed)} />,
		width: 108,
	},
	{ key: "event", header: "Event", render: (attempt) => <EventCell attempt={attempt} />, width: 180 },
	{
		key: "webhook",
		header: "Webhook",
		render: ({ webhook_id }) => <NameCell name={nameOf(webhook_id)} />,
	},
	{ key: "response", header: "Response", render: (attempt) => <ResponseCell attempt={attempt} />, width: 107 },
	{ key: "attempt", header: "Attempt", render: (attempt) => <TrackMini attempt={attempt} />, width: 132 },
	{
		key: "duration",
		header: "Duration",
		render: (attempt) => <DurationCell attempt={attempt} />,
		align: "right",
		width: 78,
	},
	{
		key: "next",
		header: "Next retry",
		render: (attempt) => <NextRetryCell attempt={attempt} webhook={stateOf(attempt.webhook_id)} />,
		align: "right",
		width: 96,
	},
];
