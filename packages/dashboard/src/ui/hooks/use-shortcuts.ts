import { useEffect, useEffectEvent } from "react";
import { isTyping } from "../../lib/keyboard.ts";
import { useKeyClaims } from "./key-claims.ts";
import { isDialogOpen, isMenuOpen, isOverlayOpen } from "./use-overlay.ts";
import { areSingleKeysOn } from "./use-single-keys.ts";

const NONE: readonly string[] = [];
/** Keys that repeat while they are held. */
const MOVES = ["j", "k"];

interface ShortcutOptions {
	/** Active even while a drawer is open. A dialog waits for an answer. */
	inDrawers?: boolean;
	/** Takes precedence over others, for a page that takes over one of the shell's keys. */
	first?: boolean;
}

/**
 * Single keys that do something anywhere on the page: `{ "/": focusSearch, j: next }` by `KeyboardEvent.key`. They
 * are off while typing, with Ctrl, Alt or Meta, and while a menu, a dialog or a drawer is open.
 */
export function useShortcuts(
	shortcuts: Readonly<Record<string, (event: KeyboardEvent) => void>>,
	{ inDrawers = false, first = false }: ShortcutOptions = {},
): void {
	useKeyClaims(first ? Object.keys(shortcuts) : NONE);
	const onKey = useEffectEvent((event: KeyboardEvent) => {
		if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
		if (isTyping(event.target as HTMLElement | null)) return;
		if (!areSingleKeysOn()) return;
		if (isMenuOpen() || (inDrawers ? isDialogOpen() : isOverlayOpen())) return;
		const act = shortcuts[event.key];
		if (act === undefined) return;
		event.preventDefault();
		if (!event.repeat || MOVES.includes(event.key)) act(event);
	});
	useEffect(() => {
		const listen = (event: KeyboardEvent) => onKey(event);
		document.addEventListener("keydown", listen, first);
		return () => document.removeEventListener("keydown", listen, first);
	}, [first]);
}
