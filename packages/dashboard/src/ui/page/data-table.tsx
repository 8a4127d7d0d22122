import { rem, Skeleton, Table, VisuallyHidden } from "@mantine/core";
import { defaultRangeExtractor, type Range, useWindowVirtualizer } from "@tanstack/react-virtual";
import {
	type MouseEvent,
	memo,
	type ReactNode,
	useCallback,
	useEffect,
	useLayoutEffect,
	useRef,
	useState,
} from "react";
import { useListKeys } from "../hooks/use-list-keys.ts";
import { useIsPrinted, useTextScale } from "../hooks/use-width.ts";
import classes from "./data-table.module.css";

export interface Column<Item> {
	readonly key: string;
	/** Empty for a column of buttons: screen readers read it as "Actions". */
	readonly header: ReactNode;
	readonly render: (item: Item) => ReactNode;
	readonly align?: "left" | "right";
	/** A CSS width; as a number, in pixels at the usual text size. */
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
	/** The address of what a row opens, for opening it in another tab. */
	hrefOf?: (item: Item) => string;
	/** Keys for the focused row in addition to `j`, `k` and Enter. */
	keys?: Readonly<Record<string, (item: Item) => void>>;
	/** The key of the row whose detail is open, null if none is: it is highlighted, and gets the focus back. */
	openKey?: string | null;
	/** Whether a row has just arrived: it is tinted for a moment. */
	isNew?: (item: Item) => boolean;
	skeletonRows?: number;
	/** If narrower than this, the table scrolls, in pixels at the usual text size. */
	minWidth?: number;
	/** Less space between columns, for many columns. */
	dense?: boolean;
	/** On narrow screens each row becomes a card, with its headers as labels, instead of scrolling. */
	cards?: boolean;
	/**
	 * Every row has the same height, and columns without a width share the remaining space, regardless of
	 * their content; longer content is cut. Long lists only render rows in sight.
	 */
	uniform?: boolean;
	/** The height of a uniform table's rows, in pixels at the usual text size. */
	rowHeight?: number;
	/** Called with the indices of the first and the last row in sight when they change. */
	onSight?: (rows: { readonly first: number; readonly last: number }) => void;
}

/** The height of a uniform table's rows by default, in pixels at the usual text size. */
const ROW_HEIGHT = 44;
/** From this many rows on, only those in sight and this many around them are rendered. */
const MANY = 100;
const AROUND = 8;
/** Rows come and go this many at a time: each time, the browser lays out the table, which takes longer than a row does. */
const TOGETHER = 4;

/** Whether a click was meant for something inside the row rather than for the row. */
const isForPart = (event: MouseEvent<HTMLElement>) =>
	event.target instanceof Element && event.target.closest("a, button, input, label, [role='menuitem']") !== null;

function cellProps<Item>({ from, header, align = "left", width }: Column<Item>) {
	return {
		className: classes.cell,
		"data-from": from,
		"data-label": typeof header === "string" && header !== "" ? header : undefined,
		style: { textAlign: align, ...(width === undefined ? {} : { width: rem(width) }) },
	};
}

function AnyCell<Item>({ column, item }: { column: Column<Item>; item: Item }) {
	return <td {...cellProps(column)}>{column.render(item)}</td>;
}

/** Only rendered again if its column or item changes, so stable columns keep long tables fast. */
const Cell = memo(AnyCell) as typeof AnyCell;

interface RowProps<Item> {
	item: Item;
	index: number;
	columns: readonly Column<Item>[];
	propsOf: ReturnType<typeof useListKeys<Item>>["rowProps"] | null;
	onClick: (event: MouseEvent<HTMLElement>, item: Item) => void;
	opens: boolean;
	isOpen: boolean;
	isNew: boolean;
	isActive: boolean;
	isTabStop: boolean;
}

function AnyRow<Item>(props: RowProps<Item>) {
	const { item, index, columns, propsOf, onClick, opens, isOpen, isNew, isActive, isTabStop } = props;
	return (
		<tr
			className={classes.row}
			// The header is row 1.
			aria-rowindex={index + 2}
			data-opens={opens || undefined}
			data-open={isOpen || undefined}
			data-new={isNew || undefined}
			onClick={(event) => onClick(event, item)}
			onAuxClick={(event) => onClick(event, item)}
			{...(propsOf === null ? {} : { ...propsOf(item, index, isActive), tabIndex: isTabStop ? 0 : -1 })}
		>
			{columns.map((column) => (
				<Cell key={column.key} column={column} item={item} />
			))}
		</tr>
	);
}

/** Only rendered again if something of it changes, so that scrolling only renders the rows that come into sight. */
const Row = memo(AnyRow) as typeof AnyRow;

/** Space for rows that aren't rendered. */
const Gap = ({ height, columns }: { height: number; columns: number }) =>
	height <= 0 ? null : (
		<tr aria-hidden>
			<td colSpan={columns} style={{ height, padding: 0, border: 0 }} />
		</tr>
	);

/** A range that only changes every few rows. */
const together = ({ startIndex, endIndex, ...range }: Range): Range => ({
	...range,
	startIndex: Math.floor(startIndex / TOGETHER) * TOGETHER,
	endIndex: Math.min(range.count - 1, Math.ceil((endIndex + 1) / TOGETHER) * TOGETHER - 1),
});

/** Which rows of a long list to render, and how to scroll to the others. */
function useWindow(count: number, rowHeight: number, keep: readonly (number | null)[]) {
	const body = useRef<HTMLTableSectionElement>(null);
	const [top, setTop] = useState(0);
	// Not with each render: that would lay out the page for each step of scrolling.
	useLayoutEffect(() => {
		if (count === 0) return;
		const measure = () => {
			const visibleTop = body.current?.getBoundingClientRect().top;
			if (visibleTop === undefined) return;
			const next = Math.round(visibleTop + window.scrollY);
			setTop((before) => (Math.abs(next - before) > 1 ? next : before));
		};
		measure();
		// Content above the list may change its height.
		const observer = new ResizeObserver(measure);
		observer.observe(document.body);
		return () => observer.disconnect();
	}, [count]);
	const kept = keep.filter((index): index is number => index !== null && index >= 0 && index < count);
	const virtualizer = useWindowVirtualizer({
		count,
		estimateSize: () => rowHeight,
		overscan: AROUND,
		scrollMargin: top,
		rangeExtractor: (range) => [...new Set([...defaultRangeExtractor(together(range)), ...kept])].sort((a, b) => a - b),
	});
	return { body, virtualizer };
}

/** A dense table whose rows open by click and by keyboard; scrolls on narrow screens. */
export function DataTable<Item>(props: DataTableProps<Item>) {
	const { label, columns, rows, rowKey, onOpen, hrefOf, keys, openKey = null, isNew, onSight } = props;
	const { skeletonRows = 6, minWidth = 560, dense = false, cards = false, uniform = false } = props;
	const textScale = useTextScale();
	// Browsers lay out rows in whole pixels.
	const rowHeight = Math.round((props.rowHeight ?? ROW_HEIGHT) * textScale);
	const items = rows ?? [];
	const isPrinted = useIsPrinted();
	// On paper, all rows are in sight.
	const isLong = uniform && items.length > MANY && !isPrinted;
	const reveal = useRef<(index: number) => void>(() => {});
	const { active, rowProps } = useListKeys<Item>({
		items,
		keyOf: rowKey,
		onOpen,
		openKey,
		reveal: (index) => reveal.current(index),
		...(keys === undefined ? {} : { keys }),
	});
	const openIndex = isLong && openKey !== null ? items.findIndex((item) => rowKey(item) === openKey) : -1;
	const { body, virtualizer } = useWindow(isLong ? items.length : 0, rowHeight, [active ?? 0, openIndex]);
	const { startIndex: first, endIndex: last } = (isLong ? virtualizer.range : { endIndex: items.length - 1 }) ?? {};
	useEffect(() => {
		if (last !== undefined && !isPrinted) onSight?.({ first: first ?? 0, last });
	}, [onSight, isPrinted, first, last]);
	const handlers = useRef({ onOpen, hrefOf });
	useEffect(() => {
		handlers.current = { onOpen, hrefOf };
		reveal.current = (index) => virtualizer.scrollToIndex(index, { align: "center" });
	});
	const click = useCallback((event: MouseEvent<HTMLElement>, item: Item) => {
		const { onOpen: open, hrefOf: addressOf } = handlers.current;
		if (open === undefined || isForPart(event)) return;
		const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.button === 1;
		if (elsewhere && addressOf !== undefined) window.open(addressOf(item), "_blank", "noopener");
		else if (event.button === 0) open(item);
	}, []);

	const reachable = onOpen !== undefined || keys !== undefined;
	const rowOf = (item: Item, index: number) => {
		const key = rowKey(item);
		return (
			<Row
				key={key}
				item={item}
				index={index}
				columns={columns}
				propsOf={reachable ? rowProps : null}
				onClick={click}
				opens={onOpen !== undefined}
				isOpen={key === openKey}
				isNew={isNew?.(item) ?? false}
				isActive={index === active}
				isTabStop={index === (active ?? 0)}
			/>
		);
	};
	const windowed = () => {
		const parts: ReactNode[] = [];
		let end = virtualizer.options.scrollMargin;
		for (const { index, start, end: next } of virtualizer.getVirtualItems()) {
			const item = items[index];
			if (item === undefined) continue;
			parts.push(<Gap key={`before ${index}`} height={start - end} columns={columns.length} />, rowOf(item, index));
			end = next;
		}
		const rest = virtualizer.options.scrollMargin + virtualizer.getTotalSize() - end;
		parts.push(<Gap key="after" height={rest} columns={columns.length} />);
		return parts;
	};
	return (
		<Table.ScrollContainer minWidth={minWidth} type="native" className={classes.scroll} data-cards={cards || undefined}>
			<Table
				className={classes.table}
				data-uniform={uniform || undefined}
				style={{ "--row-height": `${rowHeight}px` }}
				layout={uniform ? "fixed" : "auto"}
				verticalSpacing={uniform ? 0 : 10}
				horizontalSpacing={dense ? "xs" : "md"}
				aria-label={label}
				aria-busy={rows === undefined}
				aria-rowcount={isLong ? items.length + 1 : undefined}
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
				<tbody ref={body}>
					{rows === undefined
						? Array.from({ length: skeletonRows }, (_, row) => row).map((row) => (
								<tr key={row} className={classes.row}>
									{columns.map((column) => (
										<td key={column.key} {...cellProps(column)}>
											<Skeleton
												height={12}
												my={5}
												width={column.align === "right" ? 48 : "70%"}
												ml={column.align === "right" ? "auto" : 0}
											/>
										</td>
									))}
								</tr>
							))
						: isLong
							? windowed()
							: items.map(rowOf)}
				</tbody>
			</Table>
		</Table.ScrollContainer>
	);
}
