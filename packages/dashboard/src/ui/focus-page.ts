/** Focuses the page below the header, so that the next Tab continues there and shortcuts work. */
export const focusPage = () => document.getElementById("content")?.focus({ preventScroll: true });
