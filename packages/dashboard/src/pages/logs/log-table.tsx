import { useMemo } from "react";
import type { AttemptSummary } from "../../api/attempts.ts";
import { useRole } from "../../api/session.ts";
import { type Column, DataTable } from "../../ui/page/data-table.tsx";
import { type SelectableRow, selectColumn } from "./attempts/attempt-cells.tsx";
import type { NameOf } from "./filters/filter-words.ts";
import type { SendState } from "./sendable.ts";
import type { Selection } from "./use-selection.ts";

/** The rows of a list of the log, which a table or cards show. */
export interface LogRows<Row> {
	/** Undefined while they load. */
	rows: readonly Row[] | undefined;
	nameOf: NameOf;
	stateOf: (webhookId: string) => SendState;
	selection: Selection;
	/** The key of the row in the drawer; null while it is closed. */
	openKey: string | null;
	isNew: (row: Row) => boolean;
	onOpen: (row: Row) => void;
	/** Where a row opens in another tab. */
	hrefOf: (row: Row) => string;
	/** Keys for the focused row. */
	keys: Readonly<Record<string, (row: Row) => void>>;
}

interface LogTableProps<Row> extends Omit<LogRows<Row>, "stateOf"> {
	label: string;
	/** All columns except the one for selecting, which changes far more often. */
	columns: readonly Column<Row>[];
	rowKey: (row: Row) => string;
	/** The row's attempt, or a delivery's last one; null without one. The same function in every render. */
	attemptOf: (row: Row) => AttemptSummary | null;
}

const SKELETON_ROWS = 12;
/** In pixels; if narrower, the table scrolls. */
const MIN_WIDTH = 940;

/** The log as a table, for wide screens. */
export function LogTable<Row extends SelectableRow>(props: LogTableProps<Row>) {
	const { columns, attemptOf, nameOf, selection, rows, ...rest } = props;
	// There is nothing that others could do with a selection.
	const selects = useRole().may("developer");
	const all = useMemo(
		() => (selects ? [selectColumn(rows ?? [], selection, attemptOf, nameOf), ...columns] : columns),
		[rows, selects, selection, attemptOf, columns, nameOf],
	);
	return (
		<DataTable columns={all} rows={rows} skeletonRows={SKELETON_ROWS} dense uniform minWidth={MIN_WIDTH} {...rest} />
	);
}
