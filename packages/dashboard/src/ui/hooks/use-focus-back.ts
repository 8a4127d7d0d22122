import { useEffect, useState } from "react";

const OVERLAYS = "[role=dialog], [role=menu], [role=listbox]";

/** What had the focus last, and what had it last outside of dialogs and menus. */
let last: HTMLElement | null = null;
let lastOutside: HTMLElement | null = null;

document.addEventListener("focusin", ({ target }) => {
	if (!(target instanceof HTMLElement)) return;
	last = target;
	if (target.closest(OVERLAYS) === null) lastOutside = target;
});

/**
 * Returns the focus to where it was when this was mounted, if it would be lost: the dialog was opened from a menu that is
 * closed by now, or it is gone itself before it could return the focus. It may have been in a drawer, which is still open.
 */
export function useFocusBack(): void {
	// By the time of the effect, the dialog has taken the focus.
	const [openers] = useState(() => [last, lastOutside]);
	useEffect(
		() => () =>
			void requestAnimationFrame(() => {
				if (document.activeElement !== document.body) return;
				openers.find((opener) => opener?.isConnected)?.focus({ preventScroll: true });
			}),
		[openers],
	);
}
