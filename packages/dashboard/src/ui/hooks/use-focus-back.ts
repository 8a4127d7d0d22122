import { useEffect } from "react";

const OVERLAYS = "[role=dialog], [role=menu], [role=listbox]";

/** What had the focus last, outside of dialogs and menus. */
let last: HTMLElement | null = null;

document.addEventListener("focusin", ({ target }) => {
	if (target instanceof HTMLElement && target.closest(OVERLAYS) === null) last = target;
});

/**
 * Returns the focus to where it was when this was mounted, if it would be lost: the dialog was opened from a menu that is
 * closed by now, or it is gone itself before it could return the focus.
 */
export function useFocusBack(): void {
	useEffect(() => {
		const opener = last;
		return () =>
			void requestAnimationFrame(() => {
				if (document.activeElement === document.body && opener?.isConnected) opener.focus({ preventScroll: true });
			});
	}, []);
}
