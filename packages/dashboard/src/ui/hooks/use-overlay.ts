import { useEffectEvent, useLayoutEffect } from "react";

type Kind = "dialog" | "drawer";

interface Overlay {
	readonly kind: Kind;
	readonly onEscape: () => void;
}

/** The dialogs and drawers that cover the page, the last opened last. One that only fades out isn't among them. */
const overlays: Overlay[] = [];

/** Dialogs are above drawers, even if the browser's Back opens a drawer while the keyboard help is open. */
const topmost = () => overlays.findLast(({ kind }) => kind === "dialog") ?? overlays.at(-1);

// Escape closes only the topmost. The library's overlays each close on their own, so one key would close several.
window.addEventListener(
	"keydown",
	({ key, isComposing, target }) => {
		if (key !== "Escape" || isComposing) return;
		// The library's mark of what closes on Escape itself, such as a menu.
		if (target instanceof Element && target.getAttribute("data-mantine-stop-propagation") === "true") return;
		topmost()?.onEscape();
	},
	{ capture: true },
);

/** Registers an overlay while it is open. Escape calls `onEscape` if it's the topmost. */
export function useOverlay(kind: Kind, opened: boolean, onEscape: () => void): void {
	const close = useEffectEvent(onEscape);
	useLayoutEffect(() => {
		if (!opened) return;
		const overlay = { kind, onEscape: () => close() };
		overlays.push(overlay);
		return () => void overlays.splice(overlays.indexOf(overlay), 1);
	}, [kind, opened]);
}

export const isOverlayOpen = () => overlays.length > 0;
/** Whether a dropdown is open. Its letters find its items, and the keys of what it covers would move that out of sight. */
export const isMenuOpen = () => document.querySelector("[aria-haspopup][aria-expanded=true]") !== null;
export const isDialogOpen = () => overlays.some(({ kind }) => kind === "dialog");
