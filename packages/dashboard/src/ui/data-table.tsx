import { Skeleton, Table, VisuallyHidden } from "@mantine/core";
import { type MouseEvent, memo, type ReactNode } from "react";
import classes from "./data-table.module.css";
import { useListKeys } from "./use-list-keys.ts";

export interface Column<Item> {
	readonly key: string;
	/** Empty for a column of buttons: screen readers read it as "Actions". */
	readonly header: ReactNode;
	readonly render: (item: Item) => ReactNode;
	readonly align?: "left" | "right";
	/** A CSS width. */
	readonly width?: string | number;
	/** Omitted on screens narrower than this. */
	readonly from?: "sm" | "md" | "lg";
}

interface DataTableProps<Item> {
	/** What the table lists, for screen readers. */
	label: string;
	columns: readonly Column<Item>[];
	/** Undefined while they load: placeholder rows have the same height. */
	rows: readonly Item[] | undefined;
	rowKey: (item: Item) => string;
	onOpen?: (item: Item) => void;
	/** Keys for the focused row in addition to `j`, `k` and Enter. */
	keys?: Readonly<Record<string, (item: Item) => void>>;
	/** The key of the row whose detail is open, null if none is: it is highlighted, and gets the focus back. */
	openKey?: string | null;
	/** Whether a row has just arrived: it fades in. */
	isNew?: (item: Item) => boolean;
	skeletonRows?: number;
	/** If narrower than this, the table scrolls, in pixels. */
	minWidth?: number;
	/** Less space between columns, for many columns. */
	dense?: boolean;
	/** On narrow screens each row becomes a card, with its headers as labels, instead of scrolling. */
	cards?: boolean;
}

/** Whether a click was meant for something inside the row rather than for the row. */
const isForPart = (event: MouseEvent<HTMLElement>) =>
	event.target instanceof Element && event.target.closest("a, button, input, label, [role='menuitem']") !== null;

function cellProps<Item>({ from, header, align = "left", width }: Column<Item>) {
	return {
		className: classes.cell,
		"data-from": from,
		"data-label": typeof header === "string" && header !== "" ? header : undefined,
		ta: align,
		w: width,
	};
}

function AnyCell<Item>({ column, item }: { column: Column<Item>; item: Item }) {
	return <Table.Td {...cellProps(column)}>{column.render(item)}</Table.Td>;
}

/** Only rendered again if its column or item changes, so stable columns keep long tables fast. */
const Cell = memo(AnyCell) as typeof AnyCell;

/** A dense table whose rows open by click and by keyboard; scrolls on narrow screens. */
export function DataTable<Item>(props: DataTableProps<Item>) {
	const { label, columns, rows, rowKey, onOpen, keys, openKey = null, isNew } = props;
	const { skeletonRows = 6, minWidth = 560, dense = false, cards = false } = props;
	const { rowProps } = useListKeys<Item>({
		items: rows ?? [],
		keyOf: rowKey,
		onOpen,
		openKey,
		...(keys === undefined ? {} : { keys }),
	});
	return (
		<Table.ScrollContainer minWidth={minWidth} type="native" className={classes.scroll} data-cards={cards || undefined}>
			<Table
				className={classes.table}
				verticalSpacing={10}
				horizontalSpacing={dense ? "xs" : "md"}
				aria-label={label}
				aria-busy={rows === undefined}
			>
				<Table.Thead>
					<Table.Tr>
						{columns.map((column) => (
							<Table.Th key={column.key} {...cellProps(column)} scope="col">
								{column.header === "" ? <VisuallyHidden>Actions</VisuallyHidden> : column.header}
							</Table.Th>
						))}
					</Table.Tr>
				</Table.Thead>
				<Table.Tbody>
					{rows === undefined
						? Array.from({ length: skeletonRows }, (_, row) => row).map((row) => (
								<Table.Tr key={row}>
									{columns.map((column) => (
										<Table.Td key={column.key} {...cellProps(column)}>
											<Skeleton height={12} my={5} width={column.align === "right" ? 48 : "70%"} />
										</Table.Td>
									))}
								</Table.Tr>
							))
						: rows.map((item, index) => (
								<Table.Tr
									key={rowKey(item)}
									className={classes.row}
									data-opens={onOpen !== undefined || undefined}
									data-open={rowKey(item) === openKey || undefined}
									data-new={isNew?.(item) || undefined}
									onClick={(event) => {
										if (onOpen !== undefined && !isForPart(event)) onOpen(item);
									}}
									{...(onOpen === undefined && keys === undefined ? {} : rowProps(index))}
								>
									{columns.map((column) => (
										<Cell key={column.key} column={column} item={item} />
									))}
								</Table.Tr>
							))}
				</Table.Tbody>
			</Table>
		</Table.ScrollContainer>
	);
}
