import { type KeyboardEvent as ReactKeyboardEvent, useEffect, useRef, useState } from "react";
import { stepIndex } from "../lib/keys.ts";
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
}

/**
 * Makes the rows of a list reachable by keyboard: `j` and `k` (or the arrows within it) move the focus, Enter opens.
 * One row is in the tab order at a time. Spread `rowProps(index)` on each row.
 */
export function useListKeys<Item>({ items, keyOf, onOpen, keys = {}, openKey = null }: ListKeysOptions<Item>) {
	const rows = useRef(new Map<string, HTMLElement>());
	const [activeKey, setActiveKey] = useState<string | null>(null);
	const at = activeKey === null ? -1 : items.findIndex((item) => keyOf(item) === activeKey);
	const active = at === -1 ? null : at;
	const rowOf = (index: number) => {
		const item = items[index];
		return item === undefined ? undefined : rows.current.get(keyOf(item));
	};
	const step = (by: 1 | -1) => {
		const to = stepIndex(active, by, items.length);
		if (to !== null) rowOf(to)?.focus();
	};
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
	const rowProps = (index: number) => {
		const item = items[index];
		const key = item === undefined ? "" : keyOf(item);
		return {
			ref: (element: HTMLElement | null) => {
				if (element === null) rows.current.delete(key);
				else rows.current.set(key, element);
			},
			tabIndex: index === (active ?? 0) ? 0 : -1,
			"data-active": index === active || undefined,
			onFocus: () => setActiveKey(key),
			onKeyDown: (event: ReactKeyboardEvent<HTMLElement>) => {
				if (event.target !== event.currentTarget) return;
				if (event.key === "Enter" && onOpen !== undefined && item !== undefined) {
					event.preventDefault();
					onOpen(item);
				} else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
					event.preventDefault();
					step(event.key === "ArrowDown" ? 1 : -1);
				}
			},
		};
	};
	return { active, rowProps };
}
