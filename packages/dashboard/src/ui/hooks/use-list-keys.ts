import { type KeyboardEvent as ReactKeyboardEvent, useCallback, useEffect, useRef, useState } from "react";
import { stepIndex } from "../../lib/keyboard.ts";
import { useShortcuts } from "./use-shortcuts.ts";

interface ListKeysOptions<Item> {
	items: readonly Item[];
	/** Identifies a row; rows may come and go around the focused one. */
	keyOf: (item: Item) => string;
	/** Opens a row: Enter, or a click on it. */
	onOpen?: ((item: Item) => void) | undefined;
	/** More keys for the focused row: `{ r: replay, c: copyCurl }`. */
	keys?: Readonly<Record<string, (item: Item) => void>>;
	/** The row whose detail is open, null if none is: it gets the focus once the detail is closed. */
	openKey?: string | null;
	/** Scrolls to a row that isn't rendered because it is far away. */
	reveal?: (index: number) => void;
}

/**
 * Makes the rows of a list reachable by keyboard: `j` and `k` (or the arrows within it) move the focus, Enter opens.
 * One row is in the tab order at a time. Spread `rowProps(index)` on each row; its callbacks stay valid for as long
 * as the row's item and index do.
 */
export function useListKeys<Item>(options: ListKeysOptions<Item>) {
	const { items, keyOf, keys = {}, openKey = null } = options;
	const rows = useRef(new Map<string, HTMLElement>());
	const [activeKey, setActiveKey] = useState<string | null>(null);
	const at = activeKey === null ? -1 : items.findIndex((item) => keyOf(item) === activeKey);
	const active = at === -1 ? null : at;
	const latest = useRef({ ...options, active });
	useEffect(() => {
		latest.current = { ...options, active };
	});
	/** A row to focus once it is rendered. */
	const awaited = useRef<string | null>(null);

	const focusRow = useCallback((key: string, index: number) => {
		const row = rows.current.get(key);
		if (row !== undefined) return row.focus();
		awaited.current = key;
		latest.current.reveal?.(index);
	}, []);
	const step = useCallback(
		(by: 1 | -1) => {
			const { items: all, active: from, keyOf: nameOf } = latest.current;
			const to = stepIndex(from, by, all.length);
			const item = to === null ? undefined : all[to];
			if (to !== null && item !== undefined) focusRow(nameOf(item), to);
		},
		[focusRow],
	);
	const actOn = (act: (item: Item) => void) => () => {
		const item = active === null ? undefined : items[active];
		if (item !== undefined) act(item);
	};
	const opened = useRef<string | null>(null);
	useEffect(() => {
		if (openKey === null) {
			if (opened.current !== null) rows.current.get(opened.current)?.focus();
			opened.current = null;
		} else if (rows.current.has(openKey)) {
			opened.current = openKey;
		}
	}, [openKey]);
	useShortcuts({
		j: () => step(1),
		k: () => step(-1),
		...Object.fromEntries(Object.entries(keys).map(([key, act]) => [key, actOn(act)])),
	});
	const rowProps = useCallback(
		(item: Item, index: number, isActive: boolean) => {
			const key = latest.current.keyOf(item);
			return {
				ref: (element: HTMLElement | null) => {
					if (element === null) return void rows.current.delete(key);
					rows.current.set(key, element);
					if (awaited.current !== key) return;
					awaited.current = null;
					element.focus();
				},
				"data-active": isActive || undefined,
				"data-index": index,
				onFocus: () => setActiveKey(key),
				onKeyDown: (event: ReactKeyboardEvent<HTMLElement>) => {
					if (event.target !== event.currentTarget) return;
					const { onOpen } = latest.current;
					if (event.key === "Enter" && onOpen !== undefined) {
						event.preventDefault();
						onOpen(item);
					} else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
						event.preventDefault();
						step(event.key === "ArrowDown" ? 1 : -1);
					}
				},
			};
		},
		[step],
	);
	return { active, rowProps };
}
