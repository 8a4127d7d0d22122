import { useMemo } from "react";
import type { ListedAttempt } from "../../../api/attempts.ts";
import { useRole } from "../../../api/session.ts";
import { attemptOutcome, Outcome } from "../../../ui/deliveries/outcome.tsx";
import { TrackMini } from "../../../ui/deliveries/track-mini.tsx";
import { type Column, DataTable } from "../../../ui/page/data-table.tsx";
import { When } from "../../../ui/when.tsx";
import type { NameOf } from "../filters/filter-words.ts";
import type { SendState } from "../sendable.ts";
import type { Selection } from "../use-selection.ts";
import { DurationCell, EventCell, NameCell, NextRetryCell, ResponseCell, selectColumn } from "./attempt-cells.tsx";

export interface AttemptsProps {
	/** Undefined while they load. */
	rows: readonly ListedAttempt[] | undefined;
	nameOf: NameOf;
	stateOf: (webhookId: string) => SendState;
	selection: Selection;
	/** The attempt in the drawer; null while it is closed. */
	openId: string | null;
	isNew: (row: ListedAttempt) => boolean;
	onOpen: (row: ListedAttempt) => void;
	/** Where a row opens in another tab. */
	hrefOf: (row: ListedAttempt) => string;
	/** Keys for the focused row. */
	keys: Readonly<Record<string, (row: ListedAttempt) => void>>;
}

const SKELETON_ROWS = 12;
/** In pixels; if narrower, the table scrolls. */
const MIN_WIDTH = 940;

/** The log as a table, for wide screens. */
export function AttemptsTable({ rows, nameOf, stateOf, selection, openId, ...rest }: AttemptsProps) {
	// There is nothing that others could do with a selection.
	const selects = useRole().may("developer");
	const stable = useMemo(() => columnsOf(nameOf, stateOf, selects), [nameOf, stateOf, selects]);
	const columns = useMemo(
		() => (selects ? [selectColumn(rows ?? [], selection, (row) => row, nameOf), ...stable] : stable),
		[rows, selects, selection, stable, nameOf],
	);
	return (
		<DataTable
			label="Attempts"
			columns={columns}
			rows={rows}
			rowKey={({ id }) => id}
			openKey={openId}
			skeletonRows={SKELETON_ROWS}
			dense
			uniform
			minWidth={MIN_WIDTH}
			{...rest}
		/>
	);
}

/** All columns except the one for selecting, which changes far more often. */
const columnsOf = (
	nameOf: NameOf,
	stateOf: AttemptsProps["stateOf"],
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
