import { useEffect, useState } from "react";

const OVERLAYS = "[role=dialog], [role=menu], [role=listbox]";

/** An element that had the focus, and where: its ancestors, nearest first, each with the index of the child it was in. */
interface Place {
	readonly element: HTMLElement;
	readonly path: readonly (readonly [parent: Element, index: number])[];
	/** Whether a keyboard put the focus there. */
	readonly byKey: boolean;
}

/** What had the focus last, and what had it last outside of dialogs and menus. */
let last: Place | null = null;
let lastOutside: Place | null = null;

document.addEventListener("focusin", ({ target }) => {
	if (!(target instanceof HTMLElement)) return;
	const path: [Element, number][] = [];
	for (let child: Element = target; child.parentElement !== null; child = child.parentElement)
		path.push([child.parentElement, [...child.parentElement.children].indexOf(child)]);
	last = { element: target, path, byKey: target.matches(":focus-visible") };
	if (target.closest(OVERLAYS) === null) lastOutside = last;
});

const isLost = () => document.activeElement === document.body;
const focus = (element: HTMLElement | null) => element?.focus({ preventScroll: true });

/** The closest remaining ancestor of a removed element that can have the focus: its row, its dialog or the page. */
const around = ({ path }: Place): HTMLElement | null =>
	path.find(([parent]) => parent.isConnected)?.[0].closest<HTMLElement>("[tabindex]") ?? null;

/** What has moved to the place of a removed element, such as the button of the next row; null if nothing like it has. */
function successor({ element, path }: Place): HTMLElement | null {
	const from = path.findIndex(([parent]) => parent.isConnected);
	const [parent] = path[from] ?? [];
	let found: Element | undefined = parent;
	for (const [, index] of path.slice(0, from + 1).reverse())
		found = found?.children[found === parent ? Math.min(index, found.children.length - 1) : index];
	return found instanceof HTMLElement && found.tagName === element.tagName && found !== parent ? found : null;
}

// A keyboard's user would start over from the top if a button that was pressed is gone. Dialogs look after themselves.
new MutationObserver(() => {
	const place = last;
	if (place === null || !place.byKey || place.element.isConnected || !isLost()) return;
	if (place.element.closest(OVERLAYS) !== null) return;
	requestAnimationFrame(() => {
		if (place === last && isLost()) focus(around(place));
	});
}).observe(document, { childList: true, subtree: true });

/**
 * Returns the focus to where it was when this was mounted, if it would be lost: the dialog was opened from a menu that is
 * closed by now, or it is gone itself before it could return the focus. It may have been in a drawer, which is still open.
 * If it was in a row that the dialog has removed, the next row gets it, or what remains around.
 */
export function useFocusBack(): void {
	// By the time of the effect, the dialog has taken the focus.
	const [openers] = useState(() => [last, lastOutside]);
	useEffect(
		() => () =>
			void requestAnimationFrame(() => {
				if (!isLost()) return;
				for (const opener of openers) {
					if (opener === null) continue;
					focus(opener.element.isConnected ? opener.element : (successor(opener) ?? around(opener)));
					if (!isLost()) return;
				}
			}),
		[openers],
	);
}
