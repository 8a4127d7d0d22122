/** Clears the terminal's current line. */
export const CLEAR_LINE = "\r\x1b[K";

/** Switch the terminal's line wrap off and on. */
const [NO_WRAP, WRAP] = ["\x1b[?7l", "\x1b[?7h"];

/** Replaces the terminal's current line. It is cut off at the right edge: a line that wraps can't be replaced. */
export const redrawn = (line: string): string => `${CLEAR_LINE}${NO_WRAP}${line}${WRAP}`;
