/** Where a double click selects text, and where each of several clicks counts. */
const FIELDS = "input, textarea, select, label";

/**
 * Lets a double click and a held Enter act once. By the second click something else may be under the pointer: the button
 * of the row that moved up, or the backdrop of the dialog that the first click opened.
 */
export function actOnce(): void {
	document.addEventListener(
		"click",
		(event) => {
			if (event.detail > 1 && event.target instanceof Element && event.target.closest(FIELDS) === null) drop(event);
		},
		{ capture: true },
	);
	document.addEventListener(
		"keydown",
		(event) => {
			const { repeat, key, target } = event;
			if (repeat && key === "Enter" && target instanceof Element && target.closest("textarea") === null) drop(event);
		},
		{ capture: true },
	);
}

function drop(event: Event): void {
	event.preventDefault();
	event.stopImmediatePropagation();
}
