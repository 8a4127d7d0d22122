import { useEffect, useState } from "react";

const OVERLAYS = "[role=dialog], [role=menu], [role=listbox]";

/** A focused element and its position in the document. */
interface Place {
	readonly element: HTMLElement;
	/** Its ancestors, nearest first, each with the index of the child that contains it. */
	readonly path: readonly (readonly [parent: Element, index: number])[];
	/** Whether the focus was visible, as it is for keyboard users. */
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

/** The index in its path of a removed element's nearest remaining ancestor. */
const remaining = ({ path }: Place): number => path.findIndex(([parent]) => parent.isConnected);

/** The nearest remaining ancestor of a removed element that is focusable: its row, its dialog or the page. */
const around = (place: Place): HTMLElement | null =>
	place.path[remaining(place)]![0].closest<HTMLElement>("[tabindex]");

/** What took the place of a removed element, such as the button of the next or the last row; null if nothing like it did. */
function successor(place: Place): HTMLElement | null {
	const { element, path } = place;
	const top = remaining(place);
	const [parent, index] = path[top]!;
	let found = parent.children[Math.min(index, parent.children.length - 1)];
	for (const [, nth] of path.slice(0, top).reverse()) found = found?.children[nth];
	return found instanceof HTMLElement && found.tagName === element.tagName ? found : null;
}

// Without it, keyboard users would start over at the top of the page. Dialogs return the focus themselves.
new MutationObserver(() => {
	const place = last;
	if (place === null || !place.byKey || place.element.isConnected || !isLost()) return;
	if (place.element.closest(OVERLAYS) !== null) return;
	requestAnimationFrame(() => {
		if (place === last && isLost()) focus(around(place));
	});
}).observe(document, { childList: true, subtree: true });

// A button that is busy is disabled, so it loses the focus. It keeps it instead, as other buttons do.
new MutationObserver((changes) => {
	const place = last;
	if (place !== null && isLost() && changes.some(({ target }) => target === place.element)) focus(place.element);
}).observe(document, { attributes: true, attributeFilter: ["disabled"], subtree: true });

/**
 * Returns the focus to where it was when this was mounted, if it would be lost: the dialog was opened from a menu that is
 * closed by now, or it is gone itself before it could return the focus. It may have been in a drawer, which is still open.
 * If the dialog has removed the row that it was in, the next row gets it, or what contained the row.
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
